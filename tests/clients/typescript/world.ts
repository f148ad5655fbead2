// Clients of the application on a socket, which pytest has started, and of the Parley in memory.
import { readFileSync } from "node:fs";
import { Parley, type ParleyOptions } from "@parley/client";
import { FakeParley } from "@parley/client/testing";

export interface World {
  client(options?: ParleyOptions): Parley;
  complete(interviewId: string): Promise<void>;
}

export interface Served extends World {
  apiKey: string;
  teamId: string;
}

export function env(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`pytest sets ${name}`);
  return value;
}

/** What pytest does beside the interface: `organization` makes one, `complete/<id>` is the candidate. */
async function control(path: string): Promise<{ key: string; team_id: string }> {
  const response = await fetch(`${env("PARLEY_CONTROL")}/${path}`, { method: "POST" });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return (await response.json()) as { key: string; team_id: string };
}

/** A new organization of the application. */
export async function served(): Promise<Served> {
  const { key: apiKey, team_id: teamId } = await control("organization");
  return {
    apiKey,
    teamId,
    client: (options = {}) => new Parley({ apiKey, baseUrl: env("PARLEY_URL"), ...options }),
    complete: async (interviewId) => void (await control(`complete/${interviewId}`)),
  };
}

export const worlds: Readonly<Record<string, () => Promise<World>>> = {
  "the application": served,
  FakeParley: async () => new FakeParley(),
};

export interface Operation {
  parameters?: { name: string; in: string }[];
  requestBody?: { content: { "application/json": { schema: Schema } } };
  responses: Record<string, unknown>;
}

export interface Schema {
  $ref?: string;
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  enum?: string[];
}

interface Document {
  paths: Record<string, Record<string, Operation & { operationId: string }>>;
  components: { schemas: Record<string, Schema> };
}

export const openapi = JSON.parse(readFileSync(env("PARLEY_OPENAPI"), "utf-8")) as Document;

/** Every operation of the document by its name. */
export const documented = new Map(
  Object.entries(openapi.paths).flatMap(([path, { parameters, ...methods }]) =>
    Object.entries(methods).map(([method, operation]) => {
      const shared = (parameters ?? []) as unknown as { name: string; in: string }[];
      const whole = { ...operation, parameters: [...(operation.parameters ?? []), ...shared] };
      return [operation.operationId, { method: method.toUpperCase(), path, operation: whole as Required<Operation> }] as const;
    }),
  ),
);

/** An option of a test: it is left out while the document lacks one of these operations. */
export function needs(...operations: string[]): { skip: string | false } {
  const missing = operations.filter((one) => !documented.has(one));
  return { skip: missing.length > 0 && `The document does not have ${missing.join(", ")} yet.` };
}

/** Waits are counted instead of waited for. */
export function hurried(slept: number[] = []): ParleyOptions {
  const sleep = async (milliseconds: number) => void slept.push(milliseconds);
  return { sleep } as ParleyOptions;
}

export async function all<T>(many: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of many) found.push(one);
  return found;
}
