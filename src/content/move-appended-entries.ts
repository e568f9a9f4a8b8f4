import { type Bytes, wholeBody } from "../base/bytes.ts";
import { fulfilled } from "../base/fulfilled.ts";
import type { Taken } from "../store/contents.ts";
import type { Store, Transaction, View } from "../store/store.ts";
import { GROWN_BYTES_MIN, type Tail } from "./appended-entries.ts";
import { type StoredEntry, storedAt, writeEntry } from "./range-records.ts";
import type { MapContents } from "./stored-range-maps.ts";

const TAILS_PER_STEP = 64;

/** Moves the bytes of entries that have grown from their records to extents, and tells which have not. */
export async function moveTails(
  store: Store,
  contents: MapContents,
  tails: readonly Tail[],
): Promise<readonly Tail[]> {
  const left: Tail[] = [];
  for (let at = 0; at < tails.length; at += TAILS_PER_STEP) {
    left.push(...(await moveSome(store, contents, tails.slice(at, at + TAILS_PER_STEP))));
  }
  return left;
}

/** Bytes first; they take the place of an entry only if that is what it was. */
async function moveSome(
  store: Store,
  contents: MapContents,
  tails: readonly Tail[],
): Promise<readonly Tail[]> {
  const found = await store.read((view) => tails.flatMap((tail) => findGrown(view, tail)));
  const taken = await Promise.allSettled(
    found.map(({ bytes }) => contents.takeOut(wholeBody(bytes))),
  );
  try {
    const all = taken.map(fulfilled);
    return await store.transact((tx) =>
      found
        .filter((grown, at) => !moveOne(tx, contents, grown, all[at] as Taken))
        .map(({ layer, entry }) => ({ layer, start: entry.start })),
    );
  } finally {
    for (const one of taken) if (one.status === "fulfilled") one.value.release();
  }
}

interface Grown extends StoredEntry {
  readonly layer: bigint;
  readonly bytes: Bytes;
}

function findGrown(view: View, { layer, start }: Tail): Grown[] {
  const found = storedAt(view, layer, start);
  if (found?.entry.source.kind !== "inline") return [];
  const { bytes } = found.entry.source;
  return bytes.length < GROWN_BYTES_MIN ? [] : [{ ...found, layer, bytes }];
}

/** False, and nothing is done, if it has changed. */
function moveOne(
  tx: Transaction,
  contents: MapContents,
  { layer, entry, record }: Grown,
  taken: Taken,
): boolean {
  if (storedAt(tx, layer, entry.start)?.record.equals(record) !== true) return false;
  const content = contents.keep(tx, taken);
  writeEntry(tx, layer, { ...entry, source: { kind: "leaf", content, from: 0 } });
  return true;
}
