import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { RootDatabase } from "lmdb";
import type { Bytes } from "../../base/bytes.ts";
import { systemClock } from "../../base/clock.ts";
import type { StoreError } from "../../store/store.ts";
import { lmdbWith } from "./lmdb.fixture.ts";
import { type Lmdb, openLmdb } from "./lmdb.ts";
import { EmbeddedStore, openEmbeddedStore } from "./store.ts";
import { findWalFiles, type WalFile, type WalFiles } from "./wal-file.ts";

/** What is to be replaced of LMDB and of each file of the WAL. */
export interface StoreParts {
  readonly lmdb?: (real: RootDatabase<Bytes, Bytes>) => Partial<Lmdb>;
  readonly wal?: (real: WalFile) => Partial<WalFile>;
}

/** A store of which some parts are replaced, for the time of one test. */
export async function storeWith(t: TestContext, parts: StoreParts, walBytesEnough: number) {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-store-"));
  // What only a new store writes does not count.
  await (await openEmbeddedStore(folder, systemClock, assert.fail)).close();
  const real = await openLmdb(folder);
  const stops: StoreError[] = [];
  const store = await EmbeddedStore.open({
    lmdb: lmdbWith(real, parts.lmdb?.(real) ?? {}),
    wal: await walWith(folder, (file) => replaced(file, parts)),
    folder,
    clock: systemClock,
    failStop: (error) => stops.push(error),
    walBytesEnough,
  });
  t.after(async () => {
    await store.close();
    await real.close();
    await rm(folder, { recursive: true });
  });
  return { store, stops, folder };
}

/** The WAL of a folder, with a file of the test's in the place of each of its own. */
export async function walWith(
  folder: string,
  replace: (file: WalFile) => WalFile,
): Promise<WalFiles> {
  const { found, open } = await findWalFiles(folder);
  return {
    found,
    open: async () => {
      const [first, second] = await open();
      return [replace(first), replace(second)];
    },
  };
}

function replaced(file: WalFile, parts: StoreParts): WalFile {
  return {
    get capacity() {
      return file.capacity;
    },
    write: (bytes, position) => file.write(bytes, position),
    append: (bytes) => file.append(bytes),
    close: () => file.close(),
    ...parts.wal?.(file),
  };
}
