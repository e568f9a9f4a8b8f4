import { isUtf8 } from "node:buffer";
import { Fault } from "../../base/fault.ts";
import { BLOB_NAME_CHARS_MAX } from "../../base/limits.ts";
import type { Query } from "./http/exchange.ts";

/**
 * Where a list continues, as clients send it back. Opaque to them: a kind (one letter) and a text,
 * in Base64url.
 */
export interface Marker<Kind extends string> {
  readonly kind: Kind;
  readonly text: string;
}

/** A name plus its position in a list. */
const MARKER_CHARS_MAX = BLOB_NAME_CHARS_MAX + 32;

export function writeMarker(marker: Marker<string>): string {
  return Buffer.from(marker.kind + marker.text, "utf8").toString("base64url");
}

/**
 * Reads the marker of a request; null if none is sent. `kinds` are the kinds that this list writes,
 * `code` is the fault for any other marker, and `charsMax` limits its length.
 */
export function markerOf<const Kind extends string>(
  query: Query,
  kinds: readonly Kind[],
  code: "InvalidMarker" | "InvalidQueryParameterValue" = "InvalidQueryParameterValue",
  charsMax = MARKER_CHARS_MAX,
): Marker<Kind> | null {
  const value = query.get("marker");
  if (value === undefined || value === "") return null;
  const bytes = Buffer.from(value, "base64url");
  const text = bytes.toString("utf8");
  const kind = kinds.find((one) => text.startsWith(one));
  const isOurs = isUtf8(bytes) && bytes.toString("base64url") === value;
  if (kind === undefined || !isOurs || text.length > charsMax) {
    throw new Fault(code, {
      QueryParameterName: "marker",
      QueryParameterValue: value,
      Reason: "Send the NextMarker of the list before, unchanged.",
    });
  }
  return { kind, text: text.slice(kind.length) };
}
