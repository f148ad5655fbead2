#!/usr/bin/env node
// Try the connection, look at flows and interviews, check a webhook that was refused. Prints one JSON object a line.

import { Parley } from "./client.js";
import { ParleyError } from "./errors.js";
import { TOLERANCE, verify, WebhookError } from "./webhooks.js";

declare const process: {
  argv: string[];
  env: Record<string, string | undefined>;
  exitCode: number;
  exit(code: number): never;
  stdin: AsyncIterable<Uint8Array>;
  stdout: { write(text: string): void; on(event: "error", then: (error: Error & { code?: string }) => void): void };
  stderr: { write(text: string): void };
};

const HELP = `Usage: npx @parley/client COMMAND

  ping                        check the connection and the key
  flows [ID]                  list flows, or show one
  interviews [ID]             list interviews, or show one
  verify-webhook < BODY       verify a body; the secret is in PARLEY_WEBHOOK_SECRET

  --max NUMBER                how many (default: 20)
  --status STATUS             incomplete or completed
  --transcript CHOICE         full, text or none (default: none)
  -H, --header 'NAME: VALUE'  a header of the webhook as it arrived
  --signature HEADER          webhook-signature (default) or x-service-signature
  --any-time                  also accept events that are older than five minutes

Reads PARLEY_BASE_URL and PARLEY_API_KEY. Prints one JSON object a line.
`;
const WITH_VALUE = ["--max", "--status", "--transcript", "--header", "--signature"];
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  "--status": ["incomplete", "completed"],
  "--transcript": ["full", "text", "none"],
  "--signature": ["webhook-signature", "x-service-signature"],
};

class UsageError extends Error {}

interface Given {
  command: string;
  id: string | undefined;
  values: Map<string, string>;
  headers: Record<string, string>;
  anyTime: boolean;
}

function read(words: readonly string[]): Given {
  const given: Given = { command: "", id: undefined, values: new Map(), headers: {}, anyTime: false };
  const plain: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const [name = "", joined] = (words[at] ?? "").split(/(?<=^--[a-z]+)=(.*)/s);
    const option = name === "-H" ? "--header" : name;
    if (option === "--any-time") given.anyTime = true;
    else if (WITH_VALUE.includes(option)) keep(given, option, joined ?? words[(at += 1)]);
    else if (option.startsWith("-")) throw new UsageError(`There is no option ${option}.`);
    else plain.push(option);
  }
  [given.command = "", given.id] = plain;
  if (plain.length > 2) throw new UsageError(`${plain[2]} is one word too many.`);
  return given;
}

function keep(given: Given, option: string, value: string | undefined): void {
  if (value === undefined) throw new UsageError(`${option} needs a value.`);
  const choices = CHOICES[option];
  if (choices && !choices.includes(value)) throw new UsageError(`${option} is one of ${choices.join(", ")}.`);
  if (option === "--max" && !/^[0-9]+$/.test(value)) throw new UsageError("--max is a number.");
  const colon = value.indexOf(":");
  if (option === "--header" && colon > 0) given.headers[value.slice(0, colon).trim()] = value.slice(colon + 1).trim();
  else if (option === "--header") throw new UsageError("A header is given as 'name: value'.");
  else given.values.set(option, value);
}

function print(value: unknown): void {
  const shown = (value as { webhook_secret_key?: unknown }).webhook_secret_key ? { ...(value as object), webhook_secret_key: "…" } : value;
  process.stdout.write((typeof shown === "string" ? shown : JSON.stringify(shown)) + "\n");
}

async function printAll(many: AsyncIterable<unknown>): Promise<void> {
  for await (const one of many) print(one);
}

async function bodyOf(input: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of input) pieces.push(piece);
  return new Uint8Array(await new Blob(pieces as BlobPart[]).arrayBuffer());
}

async function verified({ values, headers, anyTime }: Given): Promise<void> {
  const signature = (values.get("--signature") ?? "webhook-signature") as "webhook-signature" | "x-service-signature";
  const secret = process.env.PARLEY_WEBHOOK_SECRET ?? "";
  if (!secret) throw new ParleyError("Set the environment variable PARLEY_WEBHOOK_SECRET to the secret of the flow or endpoint.");
  print(await verify(await bodyOf(process.stdin), headers, secret, { signature, tolerance: anyTime ? Infinity : TOLERANCE }));
}

async function carryOut(given: Given): Promise<void> {
  const { command, id, values } = given;
  const maxItems = Number(values.get("--max") ?? 20);
  const transcript = (values.get("--transcript") ?? "none") as "full" | "text" | "none";
  if (command === "verify-webhook") return verified(given);
  if (command === "ping") return print(await new Parley().ping());
  if (command === "flows") return id ? print(await new Parley().flows.retrieve(id)) : printAll(new Parley().flows.list({ maxItems }));
  if (command !== "interviews") throw new UsageError(command ? `There is no command ${command}.` : "Which command?");
  const { interviews } = new Parley();
  if (id) return print(await interviews.retrieve(id, { transcript }));
  return printAll(interviews.list({ status: values.get("--status") ?? null, transcript, maxItems }));
}

/** Runs a command; the exit code 1 says that it failed, 2 that it was not understood. */
async function main(words: readonly string[]): Promise<void> {
  process.stdout.on("error", (error) => {
    // The reader has had enough, as in: flows | head -1
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  if (words.some((word) => ["-h", "--help", "help"].includes(word))) return process.stdout.write(HELP);
  try {
    await carryOut(read(words));
  } catch (error) {
    const isKnown = error instanceof ParleyError || error instanceof TypeError || error instanceof UsageError;
    if (!isKnown) throw error;
    const help = error instanceof UsageError ? "\n\n" + HELP : "\n";
    const said = error instanceof WebhookError ? `${error.reason}: ${error.message}` : error instanceof ParleyError ? String(error) : error.message;
    process.stderr.write(said.replace(/^[A-Za-z]*Error: /, "") + help);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}

await main(process.argv.slice(2));
