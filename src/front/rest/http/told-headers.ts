import { redactHeader } from "./redact.ts";

/** Told by other fields, or new in each request. */
const TOLD_APART: ReadonlySet<string> = new Set([
  ...["x-ms-date", "x-ms-version", "x-ms-client-request-id", "x-ms-lease-id"],
  "x-ms-return-client-request-id",
]);
const HEADERS_MAX = 32;

/** Headers that say what to do, without secrets: `x-ms-blob-type: BlockBlob`. */
export function toldHeaders(raw: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at + 1 < raw.length && found.length < HEADERS_MAX; at += 2) {
    const name = (raw[at] as string).toLowerCase();
    const isTold = name === "content-type" || (name.startsWith("x-ms-") && !TOLD_APART.has(name));
    if (isTold) found.push(`${name}: ${redactHeader(name, raw[at + 1] as string)}`);
  }
  return found;
}
