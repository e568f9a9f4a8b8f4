import type * as http from "node:http";
import type { Bytes } from "../base/bytes.ts";
import { TransferError } from "./transfer-error.ts";

/** What an answer is judged by. */
interface Question {
  readonly method: string;
  readonly service: string;
  readonly path: string;
  /** Refusals that the caller expects, by their code or status; they are answers then. */
  readonly expects?: readonly (string | number)[];
}

export interface Answer {
  readonly status: number;
  /** The error code of a refusal that was expected. */
  readonly code: string | null;
  /** Whether the request was sent more than once, and the server may have executed it before. */
  readonly isRepeated?: boolean;
  header(name: string): string | undefined;
  /** All headers, with names as sent. */
  readonly raw: readonly string[];
  /** The body; empty if it is streamed. */
  readonly bytes: Bytes;
  /** The body as it arrives, if it is streamed. */
  readonly stream: AsyncIterable<Bytes>;
}

/** A refusal that nobody expected. */
export class RestRefusal extends TransferError {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const TRY_AGAIN = [408, 429, 500, 502, 503, 504];

/** The answer, if it is what was asked or expected; else why to try again. Throws a `RestRefusal`. */
export function judgeAnswer(asked: Question, answer: Answer): Answer | { readonly again: string } {
  const { status } = answer;
  if (status < 300) return answer;
  const text = answer.bytes.toString("utf8");
  const code = codeOf(answer, text) ?? `${status}`;
  const { expects = [] } = asked;
  if (expects.includes(code) || expects.includes(status)) return withCode(answer, code);
  if (TRY_AGAIN.includes(status)) return { again: `${status} ${code}` };
  throw refusal(asked, status, code, text);
}

function withCode(answer: Answer, code: string): Answer {
  const { status, raw, bytes, stream } = answer;
  return { status, code, header: (name) => answer.header(name), raw, bytes, stream };
}

export function answerOf(response: http.IncomingMessage, bytes: Bytes): Answer {
  return {
    status: response.statusCode ?? 0,
    code: null,
    header: (name) => {
      const value = response.headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
    raw: response.rawHeaders,
    bytes,
    stream: response,
  };
}

function codeOf(answer: Answer, text: string): string | undefined {
  const sent = answer.header("x-ms-error-code");
  if (sent !== undefined) return sent;
  return /<Code>([^<]*)<\/Code>/.exec(text)?.[1] ?? /"code":"([^"]*)"/.exec(text)?.[1];
}

function refusal(asked: Question, status: number, code: string, text: string): RestRefusal {
  const what = `${asked.method} ${asked.service} ${asked.path || "account"}`;
  const said = /<Message>([^<\n]*)/.exec(text)?.[1] ?? /"value":"([^"\n\\]*)/.exec(text)?.[1];
  if (status === 403) {
    return new RestRefusal(
      status,
      code,
      `The server refuses the key or SAS for ${what} (${code}). Check account, key and clock.`,
    );
  }
  return new RestRefusal(
    status,
    code,
    `${what} failed with ${status} ${code}${said === undefined ? "" : `: ${said}`}`,
  );
}
