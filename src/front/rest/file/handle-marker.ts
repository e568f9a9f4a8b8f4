import type { HandleMark } from "../../../service/file/list-handles.ts";
import type { Query } from "../http/exchange.ts";
import { markerOf, writeMarker } from "../marker.ts";
import { invalidQuery } from "../request-query.ts";

/** Formats where a list of handles continues. */
export function handleMarker({ id, handle }: HandleMark): string {
  return writeMarker({ kind: "h", text: `${id}.${handle}` });
}

const MARK = /^(\d{1,20})\.(\d{1,20})$/;
const U64_END = 2n ** 64n;

export function handleMarkOf(query: Query): HandleMark | null {
  const marker = markerOf(query, ["h"]);
  if (marker === null) return null;
  const [, id, handle] = MARK.exec(marker.text) ?? [];
  const mark = { id: BigInt(id ?? U64_END), handle: BigInt(handle ?? U64_END) };
  if (mark.id < U64_END && mark.handle < U64_END) return mark;
  throw invalidQuery("marker", marker.text, "Send the NextMarker of the list before, unchanged.");
}
