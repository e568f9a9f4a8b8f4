import { Fault } from "../../../base/fault.ts";
import { trimBlanks } from "../blanks.ts";
import { invalidHeader } from "../request-headers.ts";
import type { RequestHeaders } from "./exchange.ts";

/** The length of a chunked body. The service demands lengths, so no handler ever sees this one. */
export const UNKNOWN_LENGTH = Number.POSITIVE_INFINITY;

/** Request line and headers of a request. */
export interface RequestHead {
  readonly method: string;
  /** As it was sent. */
  readonly target: string;
  readonly headers: RequestHeaders;
  readonly bodyBytes: number;
  /** Whether the client waits for `100 Continue` before it sends the body. */
  readonly waitsForContinue: boolean;
  /** Whether the client may send another request on the same connection. */
  readonly keepsAlive: boolean;
  /** Set if it is not clear where the request ends or whom it is for: it is refused and closed. */
  readonly refusal: Fault | null;
}

/** The status for a head that no service could answer. */
export type HeadRefusal = 400 | 417;

/**
 * The one form of a head that is accepted (RFC 9112). Refuses whatever a proxy might read
 * differently, such as a lone LF, a folded line or a blank before a colon. Accepts bytes of 0x80
 * and above, because some clients send text in headers.
 */
const HEAD =
  /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+ [\x21-\x7e\x80-\xff]+ HTTP\/1\.[01]\r\n(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;

/** `text` goes up to the end of the last header line, and has a character for each byte. */
export function parseHead(text: string): RequestHead | HeadRefusal {
  if (!HEAD.test(text)) return 400;
  const methodEnd = text.indexOf(" ");
  const targetEnd = text.indexOf(" ", methodEnd + 1);
  const lineEnd = text.indexOf("\r\n", targetEnd);
  return headOf({
    method: text.slice(0, methodEnd),
    target: text.slice(methodEnd + 1, targetEnd),
    isHttp11: text.charCodeAt(lineEnd - 1) === ONE,
    rawHeaders: headersIn(text, lineEnd + 2),
  });
}

/** A head as our parser or Node's has read it. */
export interface ParsedHead {
  readonly method: string;
  readonly target: string;
  /** False for HTTP/1.0. */
  readonly isHttp11: boolean;
  /** A list in which each value follows its name. */
  readonly rawHeaders: readonly string[];
}

/** Checks a head, read by either parser, and finds what it says about body and connection. */
export function headOf({
  method,
  target,
  isHttp11,
  rawHeaders,
}: ParsedHead): RequestHead | HeadRefusal {
  const headers = new HeadHeaders(rawHeaders);
  const bodyBytes = headers.bodyBytes();
  const isClear = bodyBytes !== null && (!isHttp11 || headers.get("host") !== undefined);
  const expected = isHttp11 ? headers.get("expect") : undefined;
  const waitsForContinue = expected?.toLowerCase() === "100-continue";
  if (expected !== undefined && !waitsForContinue) return 417;
  return {
    method,
    target,
    headers,
    bodyBytes: isClear ? bodyBytes : 0,
    waitsForContinue,
    keepsAlive: isClear && keepsAlive(isHttp11, headers.get("connection")),
    refusal: isClear ? null : headers.whyUnclear(),
  };
}

/** Whether a head may begin with `text`. */
export function mayBeHead(text: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]*(?: |$)/.test(text);
}

/** If one of these comes twice, the first value counts; the values of others are joined. */
const FIRST_COUNTS: ReadonlySet<string> = new Set([
  ...["authorization", "content-type", "etag", "from", "if-modified-since", "if-unmodified-since"],
  ...["last-modified", "location", "max-forwards", "proxy-authorization", "referer", "user-agent"],
  ...["age", "expires", "retry-after", "server"],
]);
/** If one of these comes twice, it is not clear where the request ends or whom it is for. */
const ONLY_ONCE: ReadonlySet<string> = new Set(["content-length", "host", "transfer-encoding"]);

class HeadHeaders implements RequestHeaders {
  readonly raw: readonly string[];
  readonly #byName = new Map<string, string>();
  /** A header that must come once, and came twice. */
  #doubled: string | null = null;

  constructor(raw: readonly string[]) {
    this.raw = raw;
    for (let at = 0; at < raw.length; at += 2) this.#add(raw[at] as string, raw[at + 1] as string);
  }

  get(name: string): string | undefined {
    return this.#byName.get(name);
  }

  /** The length of the body; null if the headers contradict each other. */
  bodyBytes(): number | null {
    if (this.#doubled !== null) return null;
    const length = this.get("content-length");
    const encoding = this.get("transfer-encoding");
    if (encoding !== undefined) {
      return length === undefined && /(?:^|,\s*)chunked$/i.test(encoding) ? UNKNOWN_LENGTH : null;
    }
    if (length === undefined) return 0;
    const bytes = /^\d+$/.test(length) ? Number(length) : Number.NaN;
    return Number.isSafeInteger(bytes) ? bytes : null;
  }

  /** Why it is not clear where the request ends, or whom it is for. */
  whyUnclear(): Fault {
    if (this.#doubled !== null) {
      return invalidHeader(this.#doubled, this.#valuesOf(this.#doubled), "It must come once.");
    }
    const encoding = this.get("transfer-encoding");
    if (encoding !== undefined) {
      return invalidHeader("Transfer-Encoding", encoding, "Send a Content-Length instead.");
    }
    if (this.bodyBytes() !== null) return new Fault("HostInformationNotPresent");
    const length = this.get("content-length") ?? "";
    return invalidHeader("Content-Length", length, "It must be the number of bytes in the body.");
  }

  #valuesOf(name: string): string {
    const isNamed = (_: string, at: number) =>
      at % 2 === 1 && this.raw[at - 1]?.toLowerCase() === name.toLowerCase();
    return this.raw.filter(isNamed).join(", ");
  }

  #add(sentName: string, value: string): void {
    const name = sentName.toLowerCase();
    const before = this.#byName.get(name);
    if (before === undefined) {
      this.#byName.set(name, value);
    } else if (ONLY_ONCE.has(name)) {
      this.#doubled = sentName;
    } else if (!FIRST_COUNTS.has(name)) {
      this.#byName.set(name, `${before}, ${value}`);
    }
  }
}

const ONE = 0x31;

/** The lines of `text` from `start` on, as a list in which each value follows its name. */
function headersIn(text: string, start: number): string[] {
  const raw: string[] = [];
  for (let at = start; at < text.length; ) {
    const colon = text.indexOf(":", at);
    const end = text.indexOf("\r\n", colon);
    raw.push(text.slice(at, colon), trimBlanks(text, colon + 1, end));
    at = end + 2;
  }
  return raw;
}

function keepsAlive(isHttp11: boolean, connection: string | undefined): boolean {
  if (connection === undefined) return isHttp11;
  if (connection === "keep-alive") return true;
  const words = connection.toLowerCase().split(/\s*,\s*/);
  return isHttp11 ? !words.includes("close") : words.includes("keep-alive");
}
