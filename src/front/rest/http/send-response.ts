import { STATUS_CODES } from "node:http";
import { type Bytes, NO_BYTES } from "../../../base/bytes.ts";
import { KIB } from "../../../base/limits.ts";
import type { Pace } from "../../pace.ts";
import type { SendBudget } from "../../send-budget.ts";
import type { Connection } from "./connection.ts";
import type {
  RequestHeaders,
  ResponseBody,
  ResponseStream,
  RestRequest,
  RestResponse,
} from "./exchange.ts";
import type { IncomingRequest } from "./incoming-request.ts";
import type { ListenerLimits } from "./limits.ts";
import { SLICE_BYTES_MAX, sendBody } from "./send-body.ts";

export interface Sender {
  readonly limits: ListenerLimits;
  readonly pace: Pace;
  readonly budget: SendBudget;
  /** Lines that every answer has, whoever asked. */
  commonLines(): string;
  /** Lines that tell the client that it may send another request. */
  readonly keepAliveLines: string;
  /** Whether connections are closed after their answer. */
  readonly closing: boolean;
}

/**
 * Sends an answer and resolves with the length of its body once all of it is on its way to the
 * socket, or the client has gone. Throws if the head cannot be spelled or a stream breaks before its first
 * bytes (then nothing was sent); and if a stream breaks later: the connection is cut then, as that is the only
 * way left to tell the client.
 */
export function sendResponse(
  sender: Sender,
  request: IncomingRequest,
  connection: Connection,
  response: RestResponse,
): number | Promise<number> {
  let isLong = false;
  try {
    if (connection.socket.destroyed) return 0;
    const body = bodyOf(request, response);
    const rest = request.body.skip();
    const isTooMuch = rest > sender.limits.unreadBytesMax;
    if (sender.closing || isTooMuch || request.body.isHeldBack) connection.isLast = true;
    const head = headOf(sender, request, response, body, connection.isLast);
    isLong = rest > 0 || (body !== null && !isSmall(body));
    if (isLong) return sendLong({ sender, connection, head, body }, request, response);
    connection.isAnswered = true;
    sendSoon({ sender, connection, head, body: body as Bytes | null });
    return body === null ? 0 : body.length;
  } finally {
    if (!isLong) closeStream(response.body);
  }
}

/** An answer that is sent bit by bit, or whose request has not been read to its end. */
async function sendLong(
  { sender, connection, head, body }: Answer,
  request: IncomingRequest,
  response: RestResponse,
): Promise<number> {
  try {
    connection.watchReader(sender.pace);
    if (body !== null && isAtHand(body)) {
      connection.holdUnsent(sender.budget.unsent, body.length);
    }
    const begin = () => {
      connection.isAnswered = true;
      connection.socket.write(head, "latin1");
    };
    if (body === null) begin();
    else await sendBody(connection.socket, body, sender.budget, begin);
    if (request.body.skip() > 0 && !(await request.body.discard(sender.limits))) {
      connection.isLast = true;
    }
    connection.over();
    return body === null ? 0 : body.length;
  } finally {
    closeStream(response.body);
  }
}

interface Answer {
  readonly sender: Sender;
  readonly connection: Connection;
  readonly head: string;
  readonly body: Bytes | ResponseStream | null;
}

/** An answer that is all there. */
interface WholeAnswer extends Answer {
  readonly body: Bytes | null;
}

const ready: WholeAnswer[] = [];

/**
 * Small answers that are ready in one turn of the event loop leave together at its end. A client
 * that is woken by the first finds the others, too: waking it for each costs both sides more than
 * the answer itself.
 */
function sendSoon(answer: WholeAnswer): void {
  if (ready.push(answer) > 1) return;
  setImmediate(() => {
    for (const one of ready.splice(0)) sendWhole(one);
  });
}

function sendWhole({ sender, connection, head, body }: WholeAnswer): void {
  const { socket } = connection;
  if (body === null) {
    socket.write(head, "latin1");
  } else if (body.length <= JOINED_BYTES_MAX) {
    socket.write(joined(head, body));
  } else {
    socket.cork();
    socket.write(head, "latin1");
    socket.write(body);
    socket.uncork();
  }
  // Nearly always the system has taken all of it at once.
  if (socket.writableLength === 0) {
    connection.over();
  } else {
    connection.watchReader(sender.pace);
    connection.holdUnsent(sender.budget.unsent, socket.writableLength);
    socket.write(NO_BYTES, () => connection.over());
  }
}

/** Up to this size a body is copied behind its head: that costs less than to send it by itself. */
const JOINED_BYTES_MAX = 16 * KIB;

function joined(head: string, body: Bytes): Bytes {
  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, 0, "latin1");
  bytes.set(body, head.length);
  return bytes;
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

function isAtHand(body: Bytes | ResponseStream): boolean {
  return Buffer.isBuffer(body) || body.isAtHand === true;
}

/** The headers that an answer has although its handler does not name them. */
export function addedNames({ headers }: RestRequest): string[] {
  const names = ["Server", "Date", "x-ms-request-id", "x-ms-version", "Content-Length"];
  return headers.get(CLIENT_ID_HEADER) === undefined ? names : [...names, CLIENT_ID_HEADER];
}

export const CLIENT_ID_HEADER = "x-ms-client-request-id";
const CLIENT_REQUEST_ID = /^[\x21-\x7e]{1,1024}$/;
/** What no header may have in it: it would end its line, or is more than a byte. */
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\xff]/;

/** The id that an answer repeats; null without one that can be sent. */
export function clientRequestIdOf(headers: RequestHeaders): string | null {
  const id = headers.get(CLIENT_ID_HEADER);
  return id !== undefined && CLIENT_REQUEST_ID.test(id) ? id : null;
}

function headOf(
  sender: Sender,
  request: IncomingRequest,
  { status, headers }: RestResponse,
  body: Bytes | ResponseStream | null,
  isLast: boolean,
): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${sender.commonLines()}`;
  head += `x-ms-request-id: ${request.id}\r\nx-ms-version: ${request.version}\r\n`;
  for (let at = 0; at < headers.length; at += 2) {
    const value = headers[at + 1] as string;
    if (NOT_IN_HEADERS.test(value)) throw new Error(`${headers[at]} cannot be sent as a header`);
    head += `${headers[at]}: ${value}\r\n`;
  }
  const clientRequestId = clientRequestIdOf(request.headers);
  if (clientRequestId !== null) head += `${CLIENT_ID_HEADER}: ${clientRequestId}\r\n`;
  if (body !== null) head += `Content-Length: ${body.length}\r\n`;
  else if (mayStateLength(request, status)) head += "Content-Length: 0\r\n";
  return `${head}${isLast ? "Connection: close\r\n" : sender.keepAliveLines}\r\n`;
}

function mayStateLength(request: IncomingRequest, status: number): boolean {
  return request.method !== "HEAD" && status !== 204 && status !== 304;
}

function closeStream(body: ResponseBody): void {
  if (body !== null && typeof body === "object" && "close" in body) body.close();
}
