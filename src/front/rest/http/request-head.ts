import { Fault } from "../../../base/fault.ts";
import { invalidHeader } from "../request-headers.ts";
import type { RequestHeaders } from "./exchange.ts";

/** Of a chunked body. The service demands lengths, and so do we: no handler ever sees this one. */
export const UNKNOWN_LENGTH = Number.POSITIVE_INFINITY;

/** Everything of a request that stands before its body. */
export interface RequestHead {
  readonly method: string;
  /** As it was sent. */
  readonly target: string;
  readonly headers: RequestHeaders;
  readonly bodyBytes: number;
  /** Whether the client waits for leave to send the body. */
  readonly waitsForLeave: boolean;
  /** Whether the client may send another request on the same connection. */
  readonly keepsAlive: boolean;
  /** Why it is refused whatever it asks for; null if it is not. Where it ends is not clear then. */
  readonly refusal: Fault | null;
}

/** The status with which something is refused that no service could answer. */
export type HeadRefusal = 400 | 417;

/**
 * The only form of a head that is taken (RFC 9112): what another program on the way might read
 * differently, such as a lone LF, a folded line or a blank before a colon, is no head. Bytes of 80 and
 * above pass: they are text in the headers of some clients.
 */
const HEAD =
  /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+ [\x21-\x7e\x80-\xff]+ HTTP\/1\.[01]\r\n(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;

/** `text` goes up to the end of the last line, and has a character for each byte. */
export function parseHead(text: string): RequestHead | HeadRefusal {
  if (!HEAD.test(text)) return 400;
  const methodEnd = text.indexOf(" ");
  const targetEnd = text.indexOf(" ", methodEnd + 1);
  const lineEnd = text.indexOf("\r\n", targetEnd);
  const headers = new HeadHeaders(text, lineEnd + 2);
  const isNewer = text.charCodeAt(lineEnd - 1) === ONE;
  const bodyBytes = headers.bodyBytes();
  const isClear = bodyBytes !== null && (!isNewer || headers.get("host") !== undefined);
  const expected = isNewer ? headers.get("expect") : undefined;
  const waitsForLeave = expected?.toLowerCase() === "100-continue";
  if (expected !== undefined && !waitsForLeave) return 417;
  return {
    method: text.slice(0, methodEnd),
    target: text.slice(methodEnd + 1, targetEnd),
    headers,
    bodyBytes: isClear ? bodyBytes : 0,
    waitsForLeave,
    keepsAlive: isClear && keepsAlive(isNewer, headers.get("connection")),
    refusal: isClear ? null : headers.whyUnclear(),
  };
}

/** Whether a head can begin like this. */
export function mayBeHead(text: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]*(?: |$)/.test(text);
}

/** Of these the first counts if there are several; the values of others are joined. */
const FIRST_COUNTS: ReadonlySet<string> = new Set([
  ...["authorization", "content-type", "etag", "from", "if-modified-since", "if-unmodified-since"],
  ...["last-modified", "location", "max-forwards", "proxy-authorization", "referer", "user-agent"],
  ...["age", "expires", "retry-after", "server"],
]);
/** Two of these, and it is not clear where a request ends or whom it is for. */
const ONLY_ONCE: ReadonlySet<string> = new Set(["content-length", "host", "transfer-encoding"]);

class HeadHeaders implements RequestHeaders {
  readonly raw: string[] = [];
  readonly #byName = new Map<string, string>();
  /** What came twice, and must not. */
  #doubled: string | null = null;

  /** The lines of `text` from `start` on. */
  constructor(text: string, start: number) {
    for (let at = start; at < text.length; ) {
      const colon = text.indexOf(":", at);
      const end = text.indexOf("\r\n", colon);
      this.#add(text.slice(at, colon), trimmed(text, colon + 1, end));
      at = end + 2;
    }
  }

  get(name: string): string | undefined {
    return this.#byName.get(name);
  }

  /** Null if that is not clear. */
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

  /** Of a request of which it is not clear where it ends, or whom it is for. */
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
    this.raw.push(sentName, value);
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
const SPACE = 0x20;
const TAB = 0x09;

/** Without the blanks that may surround a value. */
function trimmed(text: string, from: number, until: number): string {
  let [start, end] = [from, until];
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(char: number): boolean {
  return char === SPACE || char === TAB;
}

function keepsAlive(isNewer: boolean, connection: string | undefined): boolean {
  if (connection === undefined) return isNewer;
  if (connection === "keep-alive") return true;
  const words = connection.toLowerCase().split(/\s*,\s*/);
  return isNewer ? !words.includes("close") : words.includes("keep-alive");
}
