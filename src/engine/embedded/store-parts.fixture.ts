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

/** Replacements for methods of LMDB and of each WAL file. */
export interface StoreParts {
  readonly lmdb?: (real: RootDatabase<Bytes, Bytes>) => Partial<Lmdb>;
  readonly wal?: (real: WalFile) => Partial<WalFile>;
}

/** Opens a store with some parts replaced; the end of the test closes it. */
export async function storeWith(t: TestContext, parts: StoreParts, walBytesEnough: number) {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-store-"));
  // Let the first start, which writes more, pass before parts are replaced.
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

/** The WAL of a folder, with each file replaced by one of the test's. */
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
    growTo: (bytes) => file.growTo(bytes),
    close: () => file.close(),
    ...parts.wal?.(file),
  };
}
