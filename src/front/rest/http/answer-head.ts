import { STATUS_CODES } from "node:http";
import type { RestRequest, RestResponse } from "./exchange.ts";

/** An answer up to its body, as either listener sends it. */
export interface AnswerHead {
  readonly status: number;
  /** Names and values in turn. */
  readonly fields: readonly string[];
}

const CLIENT_ID_HEADER = "x-ms-client-request-id";
const CLIENT_REQUEST_ID = /^[\x21-\x7e]{1,1024}$/;
/** Characters that would end a header's line, or do not fit into a byte. */
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\xff]/;

/** What the listener adds to a response. */
export interface AddedFields {
  /** Of every answer: `Server` and `Date`. */
  readonly common: readonly string[];
  /** How the connection goes on: `Connection`, `Keep-Alive`. */
  readonly connection: readonly string[];
  /** The length of the body; null if there is none. */
  readonly bodyBytes: number | null;
}

/** Throws if a header of the response cannot be sent. */
export function answerHead(
  request: RestRequest,
  { status, headers }: RestResponse,
  { common, connection, bodyBytes }: AddedFields,
): AnswerHead {
  const fields = [...common, "x-ms-request-id", request.id, "x-ms-version", request.version];
  for (let at = 0; at < headers.length; at += 2) {
    const value = headers[at + 1] as string;
    if (NOT_IN_HEADERS.test(value)) throw new Error(`${headers[at]} cannot be sent as a header`);
    fields.push(headers[at] as string, value);
  }
  const clientRequestId = request.headers.get(CLIENT_ID_HEADER);
  if (clientRequestId !== undefined && CLIENT_REQUEST_ID.test(clientRequestId)) {
    fields.push(CLIENT_ID_HEADER, clientRequestId);
  }
  if (bodyBytes !== null) fields.push("Content-Length", String(bodyBytes));
  else if (mayStateLength(request, status)) fields.push("Content-Length", "0");
  fields.push(...connection);
  return { status, fields };
}

function mayStateLength({ method }: RestRequest, status: number): boolean {
  return method !== "HEAD" && status !== 204 && status !== 304;
}

/** The head of an answer as it goes over the wire. */
export function renderHead({ status, fields }: AnswerHead): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (let at = 0; at < fields.length; at += 2) text += `${fields[at]}: ${fields[at + 1]}\r\n`;
  return `${text}\r\n`;
}

/** The headers that an answer has although its handler does not name them. */
export function addedNames({ headers }: RestRequest): string[] {
  const names = ["Server", "Date", "x-ms-request-id", "x-ms-version", "Content-Length"];
  return headers.get(CLIENT_ID_HEADER) === undefined ? names : [...names, CLIENT_ID_HEADER];
}
