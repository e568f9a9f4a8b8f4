import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { SecureContextOptions } from "node:tls";

export interface SideListenerOptions {
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  /** Null for plain HTTP. */
  readonly tls: SecureContextOptions | null;
  readonly connectionsMax: number;
  /** How long a request may take to arrive, body included. */
  readonly requestMsMax: number;
  /** Answers a request. Once it has begun an answer, a rejection cuts the connection. */
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** An error in an answer, which is a bug. */
  onError(error: unknown): void;
}

/**
 * A listener beside those of the services: for people and monitoring, a few requests a second. It
 * uses `node:http`, which can stream answers without a known end; the services' own listener is
 * made for many short requests, and sends nothing whose length is unknown.
 */
export interface SideListener {
  /** `http://127.0.0.1:9464` */
  readonly origin: string;
  /** Replaces the certificate, if there is one. */
  changeTls(tls: SecureContextOptions): void;
  /** Takes no more connections, and resolves once running requests are answered. */
  drain(): Promise<void>;
}

const HEADER_BYTES_MAX = 16 * 1024;
const HEADERS_MS_MAX = 10_000;
const KEEP_ALIVE_MS = 65_000;
const DRAIN_MS = 5_000;

/** Rejects with the system's error (`EADDRINUSE`, `EACCES`, …) if it cannot listen there. */
export async function openSideListener(options: SideListenerOptions): Promise<SideListener> {
  const { host, port, tls, onError, connectionsMax, requestMsMax } = options;
  const sockets = new Sockets();
  const limits = {
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: HEADERS_MS_MAX,
    requestTimeout: requestMsMax,
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
  const server = serverOf(tls, limits, (request, response) => {
    sockets.begin(response);
    options.answer(request, response).catch((error: unknown) => {
      onError(error);
      if (response.headersSent) response.destroy();
      else sayText(response, 500, "this cannot be answered; the log says why\n");
    });
  });
  server.maxConnections = connectionsMax;
  server.on("connection", (socket) => sockets.add(socket));
  await listening(server, host, port);
  server.on("error", onError);
  const origin = originOf(server, tls === null ? "http" : "https");
  return {
    origin,
    changeTls: (changed) => {
      if ("setSecureContext" in server) server.setSecureContext(changed);
    },
    drain: () => drain(server, sockets),
  };
}

/** Answers in plain text that nobody keeps. */
export function sayText(
  response: ServerResponse,
  status: number,
  text: string,
  contentType = "text/plain; charset=utf-8",
): void {
  response.writeHead(status, {
    "Content-Type": contentType,
    "Content-Length": Buffer.byteLength(text),
    "Cache-Control": "no-store",
  });
  response.end(text);
}

function serverOf(
  tls: SecureContextOptions | null,
  limits: ServerOptions,
  answer: RequestListener,
): ReturnType<typeof createServer> | ReturnType<typeof createSecureServer> {
  return tls === null
    ? createServer(limits, answer)
    : createSecureServer({ ...limits, ...tls }, answer);
}

/** Open connections, and those of them that wait for an answer. */
class Sockets {
  readonly #open = new Set<Socket>();
  readonly #busy = new Set<Socket>();

  add(socket: Socket): void {
    this.#open.add(socket);
    socket.once("close", () => {
      this.#open.delete(socket);
      this.#busy.delete(socket);
    });
  }

  begin(response: ServerResponse): void {
    const { socket } = response;
    if (socket === null) return;
    this.#busy.add(socket);
    response.once("close", () => this.#busy.delete(socket));
  }

  /** Node's own method spares connections on which no request has come yet. */
  closeIdle(): void {
    for (const socket of this.#open) if (!this.#busy.has(socket)) socket.destroy();
  }
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function originOf(server: Server, scheme: string): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `${scheme}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

async function drain(server: Server, sockets: Sockets): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  sockets.closeIdle();
  // A client that does not read its answer must not delay the end of the process.
  const late = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearTimeout(late);
}
