import { type Bytes, wholeBody } from "../base/bytes.ts";
import { fulfilled } from "../base/fulfilled.ts";
import { prefetch } from "../store/accelerated.ts";
import type { Taken } from "../store/content.ts";
import type { Store, Transaction, View } from "../store/store.ts";
import { type AppendedEntry, GROWN_BYTES_MIN } from "./appended-entries.ts";
import type { MapContents } from "./map-contents.ts";
import { keyOfEntry, type StoredEntry, storedAt, writeEntry } from "./range-records.ts";

const ENTRIES_PER_STEP = 64;

/** Moves the bytes of grown entries to extents; returns the entries that changed meanwhile. */
export async function moveAppendedEntries(
  store: Store,
  contents: MapContents,
  appended: readonly AppendedEntry[],
): Promise<readonly AppendedEntry[]> {
  const left: AppendedEntry[] = [];
  for (let at = 0; at < appended.length; at += ENTRIES_PER_STEP) {
    left.push(...(await moveSome(store, contents, appended.slice(at, at + ENTRIES_PER_STEP))));
  }
  return left;
}

/** Writes the bytes to an extent first, then replaces each entry that has not changed meanwhile. */
async function moveSome(
  store: Store,
  contents: MapContents,
  appended: readonly AppendedEntry[],
): Promise<readonly AppendedEntry[]> {
  const keys = () => appended.map(({ layer, start }) => keyOfEntry(layer, start));
  const found = await store.read((view) => {
    prefetch(view, keys);
    return appended.flatMap((entry) => findGrown(view, entry));
  });
  const taken = await Promise.allSettled(
    found.map(({ bytes }) => contents.takeToExtent(wholeBody(bytes))),
  );
  try {
    const all = taken.map(fulfilled);
    return await store.transact((tx) => {
      prefetch(tx, keys);
      return found
        .filter((grown, at) => !moveOne(tx, contents, grown, all[at] as Taken))
        .map(({ layer, entry }) => ({ layer, start: entry.start }));
    });
  } finally {
    for (const one of taken) if (one.status === "fulfilled") one.value.release();
  }
}

interface Grown extends StoredEntry {
  readonly layer: bigint;
  readonly bytes: Bytes;
}

function findGrown(view: View, { layer, start }: AppendedEntry): Grown[] {
  const found = storedAt(view, layer, start);
  if (found?.entry.source.kind !== "inline") return [];
  const { bytes } = found.entry.source;
  return bytes.length < GROWN_BYTES_MIN ? [] : [{ ...found, layer, bytes }];
}

/** Returns false, and does nothing, if the entry has changed. */
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
