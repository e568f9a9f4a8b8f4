import type { Bytes } from "../base/bytes.ts";
import type { Answer } from "./answer.ts";

/** Requests and answers as they stand one behind the other in a pipeline (RFC 9112). */

/** A request with its whole body. */
export interface PipelinedRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Bytes;
}

/** What would end the line of a header, or does not fit into a byte. */
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\xff]/;
const HEAD_END = "\r\n\r\n";
const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) /;
const LENGTH_LINE = /\r\nContent-Length: (\d{1,15})\r\n/;

/** All requests in one body. Throws if a header cannot be sent. */
export function renderPipeline(requests: readonly PipelinedRequest[], host: string): Bytes {
  const parts: Bytes[] = [];
  // What stands between two bodies; reads have none.
  let text = "";
  for (const { method, target, headers, body } of requests) {
    text += `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\n`;
    for (const name in headers) {
      const value = headers[name] as string;
      if (NOT_IN_HEADERS.test(value)) throw new Error(`${name} cannot be sent as a header`);
      text += `${name}: ${value}\r\n`;
    }
    if (method === "PUT") text += `Content-Length: ${body.length}\r\n`;
    text += "\r\n";
    if (body.length === 0) continue;
    parts.push(Buffer.from(text, "latin1"), body);
    text = "";
  }
  return Buffer.concat([...parts, Buffer.from(text, "latin1")]);
}

/** Reads as many answers as there were requests; throws unless the bytes are exactly these. */
export function readPipeline(bytes: Bytes, count: number): Answer[] {
  const answers: Answer[] = [];
  let at = 0;
  while (answers.length < count) {
    const headEnd = bytes.indexOf(HEAD_END, at, "latin1");
    if (headEnd < 0) throw new Error("an answer is missing");
    const head = bytes.toString("latin1", at, headEnd + 2);
    const status = Number(STATUS_LINE.exec(head)?.[1] ?? Number.NaN);
    const length = Number(LENGTH_LINE.exec(head)?.[1] ?? (status === 304 ? 0 : Number.NaN));
    const from = headEnd + HEAD_END.length;
    if (Number.isNaN(status + length) || from + length > bytes.length) {
      throw new Error("an answer is cut short");
    }
    at = from + length;
    answers.push(new PipelinedAnswer(status, head, bytes.subarray(from, at)));
  }
  if (at < bytes.length) throw new Error("there are more answers than requests");
  return answers;
}

/** Finds headers when they are asked for: of most answers nobody wants any. */
class PipelinedAnswer implements Answer {
  readonly status: number;
  readonly code = null;
  readonly bytes: Bytes;
  readonly #head: string;

  constructor(status: number, head: string, bytes: Bytes) {
    this.status = status;
    this.bytes = bytes;
    this.#head = head;
  }

  header(name: string): string | undefined {
    const { raw } = this;
    const at = raw.findIndex((one, index) => index % 2 === 0 && one.toLowerCase() === name);
    return at < 0 ? undefined : raw[at + 1];
  }

  get raw(): readonly string[] {
    const lines = this.#head.split("\r\n").slice(1, -1);
    return lines.flatMap((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
  }

  get stream(): AsyncIterable<Bytes> {
    return oneOf(this.bytes);
  }
}

async function* oneOf(bytes: Bytes): AsyncGenerator<Bytes> {
  yield bytes;
}
