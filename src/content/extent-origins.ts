import { count, format, listOf, struct, text } from "../base/fields.ts";
import { key, SPACE } from "../base/keys.ts";
import type { EndOfUse } from "../store/extents.ts";
import type { Transaction, View } from "../store/store.ts";

/**
 * Where the bytes in extents come from, so that a backup recognizes those that an earlier one has
 * copied. Bytes up to the end of an origin were written under its id; those behind the last but one
 * were written under the last. Nothing is ever written again before the end of an origin, so origin,
 * extent and offset together name the same bytes for ever. A restore begins a new origin.
 */
export interface Origin extends EndOfUse {
  readonly id: string;
}

export const NOTHING_COPIED: EndOfUse = { extent: 0, offset: 0 };

const originsFormat = format(1, {
  origins: listOf(struct({ id: text, extent: count, offset: count })),
});

export const originsKey = () => key(SPACE.extentOrigins);

export function readOrigins(view: View): readonly Origin[] {
  const found = view.get(originsKey());
  return found === undefined ? [] : originsFormat.decode(found).origins;
}

export function writeOrigins(tx: Transaction, origins: readonly Origin[]): void {
  tx.set(originsKey(), originsFormat.encode({ origins: [...origins] }));
}

/** Begins an origin, for bytes that are written from now on. */
export function beginOrigin(tx: Transaction, id: string): void {
  writeOrigins(tx, [...readOrigins(tx), { id, ...NOTHING_COPIED }]);
}

/** The origins, of which there is at least one afterwards. */
export function ensureOrigin(tx: Transaction, id: string): readonly Origin[] {
  if (readOrigins(tx).length === 0) beginOrigin(tx, id);
  return readOrigins(tx);
}

/** Notes that bytes up to this end are copied: nothing is written before it any more. */
export function noteCopied(tx: Transaction, end: EndOfUse): void {
  const origins = readOrigins(tx);
  const last = origins.at(-1) as Origin;
  writeOrigins(tx, [...origins.slice(0, -1), { ...last, ...laterEnd(last, end) }]);
}

/** The id under which the bytes at a place were written. */
export function originOf(origins: readonly Origin[], extent: number, offset: number): string {
  const at = origins.findIndex((origin) => isBefore({ extent, offset }, origin));
  const earlier = at < 0 ? undefined : origins.slice(0, -1)[at];
  return (earlier ?? (origins.at(-1) as Origin)).id;
}

export function laterEnd(one: EndOfUse, other: EndOfUse): EndOfUse {
  const { extent, offset } = isBefore(one, other) ? other : one;
  return { extent, offset };
}

function isBefore(one: EndOfUse, other: EndOfUse): boolean {
  return one.extent < other.extent || (one.extent === other.extent && one.offset < other.offset);
}
