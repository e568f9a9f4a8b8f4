import type { Query } from "./http/exchange.ts";
import { markerOf, writeMarker } from "./marker.ts";
import { invalidQuery, numberFromQuery } from "./request-query.ts";
import { element } from "./xml/write-xml.ts";

/** Paging of range lists. Their markers hold an offset. */

export function offsetMarkerOf(query: Query): number | null {
  const marker = markerOf(query, ["o"]);
  if (marker === null) return null;
  if (!/^\d{1,15}$/.test(marker.text)) throw invalidQuery("marker", query.get("marker") ?? "");
  return Number(marker.text);
}

export function nextOffsetElement(next: number | null): string {
  const marker = next === null ? "" : writeMarker({ kind: "o", text: String(next) });
  return element("NextMarker", marker);
}

/** Returns the page size: what the client asks for, at most `max`. */
export function rangesMaxOf(query: Query, max: number): number {
  const asked = numberFromQuery(query, "maxresults", 1, Number.MAX_SAFE_INTEGER);
  return Math.min(asked ?? max, max);
}
