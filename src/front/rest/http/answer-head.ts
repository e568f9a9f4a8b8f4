import { STATUS_CODES } from "node:http";
import type { RequestHeaders, RestRequest, RestResponse } from "./exchange.ts";

/** Status and headers of an answer. */
export interface AnswerHead {
  readonly status: number;
  /** All headers, each with the end of its line: `Name: value\r\n…`. */
  readonly lines: string;
}

/** The headers of an answer whose connection is closed. */
export const CLOSE_LINES = "Connection: close\r\n";

export const CLIENT_ID_HEADER = "x-ms-client-request-id";
const CLIENT_REQUEST_ID = /^[\x21-\x7e]{1,1024}$/;
/** Characters that would end a header's line, or do not fit into a byte. */
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\xff]/;

/** What the listener adds to a response. */
export interface AddedLines {
  /** The headers of every answer: `Server` and `Date`. */
  readonly common: string;
  /** The headers about the connection: `Connection`, `Keep-Alive`. */
  readonly connection: string;
  /** The length of the body; null if there is none. */
  readonly bodyBytes: number | null;
}

/** Throws if a header of the response cannot be sent. */
export function answerHead(
  request: RestRequest,
  { status, headers }: RestResponse,
  { common, connection, bodyBytes }: AddedLines,
): AnswerHead {
  let lines = `${common}x-ms-request-id: ${request.id}\r\nx-ms-version: ${request.version}\r\n`;
  for (let at = 0; at < headers.length; at += 2) {
    const value = headers[at + 1] as string;
    if (NOT_IN_HEADERS.test(value)) throw new Error(`${headers[at]} cannot be sent as a header`);
    lines += `${headers[at]}: ${value}\r\n`;
  }
  const clientRequestId = clientRequestIdOf(request.headers);
  if (clientRequestId !== null) lines += `${CLIENT_ID_HEADER}: ${clientRequestId}\r\n`;
  if (bodyBytes !== null) lines += `Content-Length: ${bodyBytes}\r\n`;
  else if (mayStateLength(request, status)) lines += "Content-Length: 0\r\n";
  return { status, lines: lines + connection };
}

/** The client's id, which the answer repeats; null if there is none that can be sent. */
export function clientRequestIdOf(headers: Pick<RequestHeaders, "get">): string | null {
  const id = headers.get(CLIENT_ID_HEADER);
  return id !== undefined && CLIENT_REQUEST_ID.test(id) ? id : null;
}

function mayStateLength({ method }: RestRequest, status: number): boolean {
  return method !== "HEAD" && status !== 204 && status !== 304;
}

/** The head as it goes over the wire. */
export function renderHead({ status, lines }: AnswerHead): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n`;
}

/** The headers as a list in which each value follows its name. */
export function fieldsOf({ lines }: AnswerHead): string[] {
  const fields: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const colon = lines.indexOf(":", at);
    const end = lines.indexOf("\r\n", colon);
    fields.push(lines.slice(at, colon), lines.slice(colon + ": ".length, end));
    at = end + "\r\n".length;
  }
  return fields;
}

/** The headers that an answer has although its handler does not name them. */
export function addedNames({ headers }: RestRequest): string[] {
  const names = ["Server", "Date", "x-ms-request-id", "x-ms-version", "Content-Length"];
  return headers.get(CLIENT_ID_HEADER) === undefined ? names : [...names, CLIENT_ID_HEADER];
}
