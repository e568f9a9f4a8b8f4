import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerLab, type LabAsked } from "./api.ts";
import type { Lab } from "./lab.ts";
import { LabError } from "./lab-error.ts";

export interface LabListener {
  /** `http://127.0.0.1:10006` */
  readonly origin: string;
  /** Ends all connections: what they wait for does not come any more. */
  close(): Promise<void>;
}

export interface LabListenerOptions {
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  readonly lab: Lab;
  /** Whether only this machine can reach a host. */
  isLoopback(host: string): boolean;
  /** The longest body of a request, in MiB; by default 64. */
  readonly bodyMibMax?: number;
  /** An error that is a bug. */
  onError(error: unknown): void;
}

/** Histories are the longest that anybody sends or gets. */
const BODY_MIB_MAX = 64;
const MIB = 1024 * 1024;
const REQUEST_MS_MAX = 60_000;

/** Rejects with the system's error (`EADDRINUSE`, `EACCES`, …) if it cannot listen there. */
export async function openLabListener(options: LabListenerOptions): Promise<LabListener> {
  const { host, port, onError } = options;
  const server = createServer(
    { requestTimeout: REQUEST_MS_MAX, headersTimeout: REQUEST_MS_MAX },
    (request, response) => {
      answer(request, options).then(
        (body) => say(response, 200, body),
        (error: unknown) => {
          const isAsked = error instanceof LabError;
          if (!isAsked) onError(error);
          const message = isAsked ? error.message : "This is a bug: the server's log has more.";
          say(response, isAsked ? error.status : 500, { error: message });
        },
      );
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  server.on("error", onError);
  return { origin: originOf(server), close: () => close(server) };
}

async function answer(request: IncomingMessage, options: LabListenerOptions): Promise<unknown> {
  requireLocal(request, options);
  const asked = await readAsked(request, options);
  return answerLab(options.lab, asked);
}

/**
 * Refuses what a page in a browser sends, whatever name it has given to this machine: the lab asks
 * for no password.
 */
function requireLocal(
  { headers }: IncomingMessage,
  { isLoopback }: Pick<LabListenerOptions, "isLoopback">,
): void {
  if (headers.origin !== undefined || headers["sec-fetch-site"] !== undefined) {
    throw new LabError("The lab answers programs, and no pages of a browser.", 403);
  }
  const host = (headers.host ?? "").replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
  if (!isLoopback(host))
    throw new LabError("The lab answers at 127.0.0.1 and localhost only.", 403);
}

async function readAsked(
  request: IncomingMessage,
  { bodyMibMax = BODY_MIB_MAX }: LabListenerOptions,
): Promise<LabAsked> {
  const { method = "", url = "/" } = request;
  const { pathname, searchParams } = new URL(url, "http://lab");
  let text = "";
  request.setEncoding("utf8");
  for await (const part of request) {
    text += part;
    if (text.length > bodyMibMax * MIB) {
      throw new LabError(`A request has ${bodyMibMax} MiB at most.`, 413);
    }
  }
  return { method, path: pathname, query: searchParams, body: parsed(text) };
}

function parsed(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new LabError(`The body of a request to the lab is JSON: ${(error as Error).message}.`);
  }
}

function say(response: ServerResponse, status: number, body: unknown): void {
  const text = `${JSON.stringify(body, null, 2)}\n`;
  response.writeHead(status, {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(text),
    "Cache-Control": "no-store",
  });
  response.end(text);
}

function originOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
