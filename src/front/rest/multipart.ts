import { Fault } from "../../base/fault.ts";

/** One part of a multipart body, or a request inside one. Header names are in lower case. */
export interface Part {
  readonly headers: ReadonlyMap<string, string>;
  readonly content: string;
}

const BOUNDARY =
  /^multipart\/mixed\s*;(?:.*;)?\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i;
const HEADERS_MAX = 50;
export const CRLF = "\r\n";

/** Returns the boundary of a `multipart/mixed` content type; null for any other type. */
export function boundaryOf(contentType: string | undefined): string | null {
  const found = BOUNDARY.exec(contentType ?? "");
  return found === null ? null : (found[1] ?? found[2] ?? null);
}

/** Joins rendered parts to a multipart body. */
export function joinParts(parts: readonly string[], boundary: string): string {
  const all = parts.map((part) => `--${boundary}${CRLF}${part}${CRLF}`).join("");
  return `${all}--${boundary}--${CRLF}`;
}

/**
 * Splits a multipart body into its parts. Lines may end with LF alone, as some clients write them.
 */
export function readParts(
  text: string,
  boundary: string,
  partsMax: number,
  tooMany = brokenBatch(`It has more than ${partsMax} operations.`),
): Part[] {
  const parts: Part[] = [];
  const delimiter = `--${boundary}`;
  let start = -1;
  for (let at = lineWith(text, delimiter, 0); at >= 0; ) {
    const end = endOfLine(text, at);
    const rest = text.slice(at + delimiter.length, end).trimEnd();
    if (rest === "" || rest === "--") {
      if (start >= 0) parts.push(readPart(text.slice(start, contentEnd(text, at))));
      if (rest === "--") return parts;
      if (parts.length >= partsMax) throw tooMany;
      start = end + 1;
    }
    at = lineWith(text, delimiter, end);
  }
  throw brokenBatch(`It has no line ${delimiter}-- at its end.`);
}

/** Reads headers, an empty line, and the content. */
export function readPart(text: string): Part {
  const headers = new Map<string, string>();
  for (let at = 0; at < text.length; ) {
    const end = endOfLine(text, at);
    const line = text.slice(at, end).trimEnd();
    at = end + 1;
    if (line === "") return { headers, content: text.slice(at) };
    const colon = line.indexOf(":");
    if (colon < 1 || headers.size >= HEADERS_MAX) throw brokenBatch(`'${line}' is no header.`);
    headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return { headers, content: "" };
}

export function brokenBatch(reason: string): Fault {
  return new Fault("InvalidInput", { Reason: `The batch cannot be read. ${reason}` });
}

/** The start of the first line from `from` on that begins with `prefix`; -1 if there is none. */
function lineWith(text: string, prefix: string, from: number): number {
  if (from === 0 && text.startsWith(prefix)) return 0;
  const found = text.indexOf(`\n${prefix}`, from);
  return found < 0 ? -1 : found + 1;
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** The line end before a delimiter belongs to the delimiter. */
function contentEnd(text: string, at: number): number {
  const withoutLf = text[at - 1] === "\n" ? at - 1 : at;
  return text[withoutLf - 1] === "\r" ? withoutLf - 1 : withoutLf;
}
