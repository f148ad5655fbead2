// A raw server between a client and the application. It breaks the next responses in the ways it is given.
import { createConnection, createServer, type AddressInfo, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

export type Way = (forward: () => Promise<{ head: Buffer; body: Buffer }>, socket: Socket) => Promise<void> | void;

export interface Line extends AsyncDisposable {
  url: string;
  requests: string[];
}

/** Takes one connection after the other; each gets the next of `ways`, and after them the plain response. */
export async function line(behind: string, ...ways: Way[]): Promise<Line> {
  const requests: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => undefined).on("close", () => open.delete(socket));
    const way = ways.shift() ?? plain;
    if (way === resetAtOnce) return socket.resetAndDestroy();
    readRequest(socket, (request) => {
      requests.push(request.toString("latin1"));
      void Promise.resolve(way(() => forwarded(behind, request), socket));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, [Symbol.asyncDispose]: close };
}

function readRequest(socket: Socket, done: (request: Buffer) => void): void {
  let raw = Buffer.alloc(0);
  socket.on("data", (piece) => {
    raw = Buffer.concat([raw, piece]);
    const end = raw.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(raw.subarray(0, end).toString("latin1"))?.[1] ?? 0);
    if (raw.length >= end + 4 + length) done(raw);
  });
}

/** The application carries the request out; head and body of its response. */
function forwarded(behind: string, request: Buffer): Promise<{ head: Buffer; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const { hostname, port } = new URL(behind);
    const socket = createConnection(Number(port), hostname);
    socket.on("error", reject).on("data", (part) => parts.push(part));
    socket.on("end", () => {
      const whole = Buffer.concat(parts);
      const end = whole.indexOf("\r\n\r\n") + 4;
      resolve({ head: whole.subarray(0, end), body: whole.subarray(end) });
    });
    // One request for each connection, so that the end of the response is the end of the connection.
    socket.write(request.toString("latin1").replace(/connection: keep-alive/i, "Connection: close"), "latin1");
  });
}

export const plain: Way = async (forward, socket) => {
  const { head, body } = await forward();
  socket.end(Buffer.concat([head, body]));
};

export const resetAtOnce: Way = () => {
  throw new Error("No request is read");
};

export const resetBeforeHeaders: Way = async (forward, socket) => {
  await forward();
  socket.resetAndDestroy();
};

export const resetAfterHeaders: Way = async (forward, socket) => {
  socket.write((await forward()).head);
  await pause(50); // so that the headers are read before the reset discards them
  socket.resetAndDestroy();
};

export const halfHeaders: Way = async (forward, socket) => {
  socket.end((await forward()).head.subarray(0, 40));
};

export const halfBody: Way = async (forward, socket) => {
  const { head, body } = await forward();
  socket.end(Buffer.concat([head, body.subarray(0, body.length / 2)]));
};

export const halfBodyWithoutLength: Way = async (forward, socket) => {
  const { body } = await forward();
  socket.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
  socket.end(body.subarray(0, body.length / 2));
};

export const slowDrip: Way = async (forward, socket) => {
  const { head, body } = await forward();
  socket.write(head);
  for (const byte of body) {
    if (socket.destroyed) return;
    socket.write(Buffer.from([byte]));
    await pause(50);
  }
};

export const silence: Way = async (forward) => {
  await forward();
};

export const anotherProtocol: Way = async (forward, socket) => {
  await forward();
  socket.end("SSH-2.0-OpenSSH_9.6\r\n");
};

/** A response of a proxy, or of a server that has too much to do; `works`: it carries the request out before. */
export function refuses(status: string, { headers = [], works = false }: { headers?: string[]; works?: boolean } = {}): Way {
  return async (forward, socket) => {
    if (works) await forward();
    const lines = [`HTTP/1.1 ${status}`, ...headers, "Content-Type: text/html", "Content-Length: 9", "Connection: close"];
    socket.end([...lines, "", "<h1>No</h"].join("\r\n"));
  };
}

export function inSeconds(seconds: number): string {
  return `Retry-After: ${new Date(Date.now() + 1000 * seconds).toUTCString()}`;
}
