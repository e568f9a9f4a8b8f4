import type { ServerResponse } from "node:http";
import type { Bytes } from "../../../base/bytes.ts";
import { KIB } from "../../../base/limits.ts";
import type { ResponseBody, ResponseStream, RestResponse } from "./exchange.ts";
import type { IncomingRequest } from "./incoming-request.ts";
import type { ListenerLimits } from "./limits.ts";
import type { Pace, Transfer } from "./pace.ts";

/** Larger pieces would make a slow reader look like one that has stopped. */
const SLICE_BYTES_MAX = 512 * KIB;

export interface Sender {
  readonly limits: ListenerLimits;
  readonly pace: Pace;
  /** Headers that every answer has, whoever asked. */
  commonHeaders(): readonly string[];
  /** Whether connections are closed after their answer. */
  readonly closing: boolean;
}

/**
 * Sends an answer and resolves with the length of its body once all of it is on its way to the
 * socket, or the client has gone. Throws if the head cannot be sent (then nothing was), or if a
 * stream breaks: the connection is cut then, as that is the only way left to tell the client.
 */
export async function sendResponse(
  sender: Sender,
  request: IncomingRequest,
  output: ServerResponse,
  response: RestResponse,
): Promise<number> {
  const body = bodyOf(request, response);
  try {
    if (output.destroyed) return 0;
    const rest = request.body.rest;
    const close = sender.closing || rest > sender.limits.unreadBytesMax;
    output.writeHead(response.status, headersOf(sender, request, response, body, close));
    if (rest === 0 && (body === null || isSmall(body))) {
      sendSoon(() => {
        output.end(body);
        if (output.writableLength > 0) watchReader(sender, output);
      });
    } else {
      watchReader(sender, output);
      if (body === null) output.flushHeaders();
      else await sendParts(output, body);
      if (rest > 0) await finishRequest(sender, request, output);
      if (!output.destroyed) output.end();
    }
    return body === null ? 0 : body.length;
  } finally {
    closeStream(response.body);
  }
}

const ready: (() => void)[] = [];

/**
 * Small answers that are ready in one turn of the event loop leave together at its end. A client
 * that is woken by the first finds the others, too: waking it for each costs both sides more than
 * the answer itself.
 */
function sendSoon(send: () => void): void {
  if (ready.push(send) > 1) return;
  setImmediate(() => {
    for (const one of ready.splice(0)) one();
  });
}

/** Null if this answer has none, whatever was given. */
function bodyOf(request: IncomingRequest, response: RestResponse): Bytes | ResponseStream | null {
  const { body, status } = response;
  if (body === null || request.method === "HEAD" || status === 204 || status === 304) return null;
  return typeof body === "string" ? Buffer.from(body, "utf8") : body;
}

function isSmall(body: Bytes | ResponseStream): body is Bytes {
  return Buffer.isBuffer(body) && body.length <= SLICE_BYTES_MAX;
}

const CLIENT_REQUEST_ID = /^[\x21-\x7e]{1,1024}$/;

function headersOf(
  sender: Sender,
  request: IncomingRequest,
  response: RestResponse,
  body: Bytes | ResponseStream | null,
  close: boolean,
): string[] {
  const headers = [
    ...sender.commonHeaders(),
    "x-ms-request-id",
    request.id,
    "x-ms-version",
    request.version,
    ...response.headers,
  ];
  const clientRequestId = request.headers.get("x-ms-client-request-id");
  if (clientRequestId !== undefined && CLIENT_REQUEST_ID.test(clientRequestId)) {
    headers.push("x-ms-client-request-id", clientRequestId);
  }
  if (body !== null) headers.push("Content-Length", String(body.length));
  else if (mayStateLength(request, response)) headers.push("Content-Length", "0");
  if (close) headers.push("Connection", "close");
  return headers;
}

function mayStateLength(request: IncomingRequest, { status }: RestResponse): boolean {
  return request.method !== "HEAD" && status !== 204 && status !== 304;
}

/**
 * Hands over one slice after the other, no faster than the client takes them: the memory of a part
 * is used again once the next one is asked for.
 */
async function sendParts(output: ServerResponse, body: Bytes | ResponseStream): Promise<void> {
  let wake = (): void => {};
  const woken = (): void => wake();
  output.on("close", woken);
  let left = body.length;
  try {
    for await (const part of partsOf(body)) {
      left -= part.length;
      if (left < 0) break;
      for (let at = 0; at < part.length; at += SLICE_BYTES_MAX) {
        if (output.destroyed) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
          output.write(part.subarray(at, at + SLICE_BYTES_MAX), woken);
        });
      }
      if (output.destroyed) return;
    }
    if (left !== 0) throw new Error(`the parts of a body do not add up to ${body.length} bytes`);
  } catch (error) {
    output.destroy();
    throw error;
  } finally {
    output.off("close", woken);
  }
}

async function* partsOf(body: Bytes | ResponseStream): AsyncIterable<Bytes> {
  if (Buffer.isBuffer(body)) yield body;
  else yield* body.parts();
}

/**
 * The client has its answer, and may still be sending. Closing at once would make its system throw
 * the answer away unread, so we read on for a while.
 */
async function finishRequest(
  sender: Sender,
  request: IncomingRequest,
  output: ServerResponse,
): Promise<void> {
  const { socket } = output;
  const complete = await request.body.discard(sender.limits);
  if (!complete) output.once("finish", () => socket?.destroySoon());
}

function watchReader(sender: Sender, output: ServerResponse): void {
  const { socket } = output;
  if (socket === null) return;
  const reader: Transfer = {
    get waiting() {
      return socket.writableLength > 0;
    },
    get moved() {
      return socket.bytesWritten - socket.writableLength;
    },
    cut: () => socket.destroy(),
  };
  sender.pace.watch(reader);
  output.once("close", () => sender.pace.forget(reader));
}

function closeStream(body: ResponseBody): void {
  if (body !== null && typeof body === "object" && "close" in body) body.close();
}
