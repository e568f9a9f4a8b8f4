import type { IncomingMessage, ServerResponse } from "node:http";
import type { SecureContextOptions } from "node:tls";
import type { Clock } from "../../base/clock.ts";
import type { Outcomes } from "../outcome.ts";
import { openSideListener, type SideListener, sayText } from "../side-listener.ts";
import type { ApiCalls } from "./api-calls.ts";
import { ConsoleApi } from "./console-api.ts";
import type { ConsoleFacts } from "./console-facts.ts";
import { forward, SERVICES_PATH } from "./forward.ts";
import type { PageFile, PageFiles } from "./page-files.ts";

export interface ConsoleOptions {
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  /** Null for plain HTTP, which only loopback permits. */
  readonly tls: SecureContextOptions | null;
  readonly isLoopback: boolean;
  readonly clock: Clock;
  readonly outcomes: Outcomes;
  readonly files: Pick<PageFiles, "get">;
  readonly facts: ConsoleFacts;
  readonly calls: ApiCalls;
  /** An error in an answer, which is a bug. */
  onError(error: unknown): void;
}

export interface ConsoleListener extends SideListener {
  /** For the operator's first sign-in: `http://127.0.0.1:10005/#token=…`. */
  readonly address: string;
}

const CONNECTIONS_MAX = 128;
/** Uploads through the console may be long. */
const REQUEST_MS_MAX = 3_600_000;

/** The page loads nothing from elsewhere, and runs no script but its own. */
const PAGE_HEADERS = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; " +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** Rejects with the system's error (`EADDRINUSE`, `EACCES`, …) if it cannot listen there. */
export async function openConsoleListener(options: ConsoleOptions): Promise<ConsoleListener> {
  const { host, port, tls, onError } = options;
  const api = new ConsoleApi({ ...options, isSecure: tls !== null });
  const listener = await openSideListener({
    host,
    port,
    tls,
    connectionsMax: CONNECTIONS_MAX,
    requestMsMax: REQUEST_MS_MAX,
    answer: (request, response) => answer(request, response, api, options),
    onError,
  });
  return {
    ...listener,
    address: `${listener.origin}/#token=${api.token}`,
    drain: () => {
      api.close();
      return listener.drain();
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  api: ConsoleApi,
  { files, facts, isLoopback }: ConsoleOptions,
): Promise<void> {
  if (isLoopback && !isOwnName(request.headers.host ?? "")) {
    return sayText(response, 421, "open the console by the address that the server printed\n");
  }
  const [path = "/"] = (request.url ?? "/").split("?", 1);
  if (path.startsWith("/api/")) return api.answer(request, response, path);
  if (path.startsWith(SERVICES_PATH)) {
    if (!api.mayForward(request)) {
      return sayText(response, 401, "sign in first\n");
    }
    return forward(request, response, facts.urls);
  }
  const file = files.get(path);
  if (file === undefined) return sayText(response, 404, "there is no such page\n");
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("Allow", "GET, HEAD");
    return sayText(response, 405, "use GET or HEAD\n");
  }
  sendFile(request, response, file);
}

/** Refuses other names, so that a page of another site cannot reach it by a name of its own. */
function isOwnName(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host);
}

function sendFile(request: IncomingMessage, response: ServerResponse, file: PageFile): void {
  const { contentType, bytes, zipped, etag } = file;
  const common = {
    ...PAGE_HEADERS,
    ETag: etag,
    "Cache-Control": "no-cache",
    Vary: "Accept-Encoding",
  };
  if (request.headers["if-none-match"] === etag) {
    response.writeHead(304, common).end();
    return;
  }
  const isZipped = /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
  const body = isZipped ? zipped : bytes;
  response.writeHead(200, {
    ...common,
    "Content-Type": contentType,
    "Content-Length": body.length,
    ...(isZipped ? { "Content-Encoding": "gzip" } : {}),
  });
  response.end(request.method === "HEAD" ? undefined : body);
}
