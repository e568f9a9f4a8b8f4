import type { Body } from "../base/bytes.ts";
import { KeyReader, key, keyAfter, keyBehind, SPACE } from "../base/keys.ts";
import { MIB } from "../base/limits.ts";
import { prefetch } from "../store/accelerated.ts";
import type { Address, Extents, Written } from "../store/extents.ts";
import type { Store } from "../store/store.ts";
import { addressesIn, keysToOpen, readLeaf, writeLeaf } from "./content-records.ts";
import { writeUses } from "./content-uses.ts";

/** Contents that are written at a time, and whose addresses change in one transaction. */
const CONTENTS_MAX = 64;
const BYTES_MAX = 32 * MIB;
const CONTENTS_PER_READ = 256;
const USES_PER_STEP = 1_000;

interface Leaf {
  readonly id: bigint;
  readonly addresses: readonly Address[];
}

/** Deletes all notes of bytes in use: those of restored records are about other extents. */
export async function forgetUses(store: Store): Promise<void> {
  const all = key(SPACE.extentUse);
  for (;;) {
    const left = await store.transact((tx) => {
      const found = tx.range(all, keyAfter(all), { limit: USES_PER_STEP });
      for (const entry of found) tx.delete(entry.key);
      return found.length;
    });
    if (left < USES_PER_STEP) return;
  }
}

/**
 * Writes the bytes of all contents once more, to extents of this process, and makes the contents
 * refer to them. Nobody else may use the records meanwhile. Yields the bytes that were written.
 */
export async function* rewriteContents(
  store: Store,
  extents: Pick<Extents, "write">,
  bodyOf: (at: Address) => Body,
): AsyncGenerator<number> {
  const end = keyAfter(key(SPACE.content));
  for (let from = key(SPACE.content); ; ) {
    const start = from;
    const found = await store.read((view) => view.range(start, end, { limit: CONTENTS_PER_READ }));
    const last = found.at(-1);
    if (last === undefined) return;
    from = keyBehind(last.key);
    const leaves = found.map(({ key: at, value }): Leaf => {
      const reader = new KeyReader(at);
      return { id: reader.u64(), addresses: addressesIn(value) };
    });
    for (const some of portions(leaves.filter(({ addresses }) => addresses.length > 0))) {
      yield await rewrite(store, extents, bodyOf, some);
    }
  }
}

function* portions(leaves: readonly Leaf[]): Generator<Leaf[]> {
  let portion: Leaf[] = [];
  let bytes = 0;
  for (const leaf of leaves) {
    const more = leaf.addresses.reduce((sum, { length }) => sum + length, 0);
    if (portion.length === CONTENTS_MAX || (portion.length > 0 && bytes + more > BYTES_MAX)) {
      yield portion;
      portion = [];
      bytes = 0;
    }
    portion.push(leaf);
    bytes += more;
  }
  if (portion.length > 0) yield portion;
}

async function rewrite(
  store: Store,
  extents: Pick<Extents, "write">,
  bodyOf: (at: Address) => Body,
  leaves: readonly Leaf[],
): Promise<number> {
  const written: Written[] = [];
  let bytes = 0;
  const copy = async ({ id, addresses }: Leaf) => {
    const moved: Address[] = [];
    for (const at of addresses) {
      const done = await extents.write(bodyOf(at));
      written.push(done);
      moved.push(...done.addresses);
      bytes += at.length;
    }
    return { id, addresses: moved };
  };
  try {
    const copies = await Promise.all(leaves.map(copy));
    await store.transact((tx) => {
      prefetch(tx, () => keysToOpen(copies));
      for (const { id, addresses } of copies) {
        writeLeaf(tx, id, { ...readLeaf(tx, id), addresses });
        writeUses(tx, id, addresses);
      }
    });
    return bytes;
  } finally {
    for (const one of written) one.release();
  }
}
