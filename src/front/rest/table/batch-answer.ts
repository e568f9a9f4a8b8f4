import { STATUS_CODES } from "node:http";
import { newGuid } from "../../../base/ids.ts";
import type { RestResponse } from "../http/exchange.ts";
import { DATA_HEADERS } from "./call.ts";

const CRLF = "\r\n";

/** The answers to a change set, or the one refusal, as `spellPart` made them. */
export function answerWithChanges(parts: readonly string[]): RestResponse {
  const boundary = `changesetresponse_${newGuid()}`;
  const head = `Content-Type: multipart/mixed; boundary=${boundary}`;
  return answerWith([head + CRLF + CRLF + framed(parts, boundary)]);
}

export function answerWithQuery(part: string): RestResponse {
  return answerWith([part]);
}

/** An answer as it stands in the answer to a batch. */
export function spellPart(
  { status, headers, body }: RestResponse,
  contentId: string | null,
): string {
  const lines = [
    "Content-Type: application/http",
    "Content-Transfer-Encoding: binary",
    "",
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
  ];
  if (contentId !== null) lines.push(`Content-ID: ${contentId}`);
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  return [...lines, "", body ?? ""].join(CRLF);
}

function answerWith(parts: readonly string[]): RestResponse {
  const boundary = `batchresponse_${newGuid()}`;
  const headers = [...DATA_HEADERS, "Content-Type", `multipart/mixed; boundary=${boundary}`];
  return { status: 202, headers, body: framed(parts, boundary) };
}

function framed(parts: readonly string[], boundary: string): string {
  const all = parts.map((part) => `--${boundary}${CRLF}${part}${CRLF}`).join("");
  return `${all}--${boundary}--${CRLF}`;
}
