import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext } from "node:test";
import type { RootDatabase } from "lmdb";
import type { Bytes } from "../../base/bytes.ts";
import { systemClock } from "../../base/clock.ts";
import type { StoreError } from "../../store/store.ts";
import { lmdbWith } from "./lmdb.fixture.ts";
import { type Lmdb, openLmdb } from "./lmdb.ts";
import { EmbeddedStore, openEmbeddedStore } from "./store.ts";
import { findWalFiles, type WalFile, type WalFiles } from "./wal-file.ts";

/** Removed after all tests of a file, because each store is closed at the end of its test. */
const scratch = mkdtempSync(join(tmpdir(), "lazuli-store-"));
after(() => rm(scratch, { recursive: true }));

function newFolder(): Promise<string> {
  return mkdtemp(join(scratch, "store-"));
}

/** Replacements for methods of LMDB and of each WAL file. */
export interface StoreParts {
  readonly lmdb?: (real: RootDatabase<Bytes, Bytes>) => Partial<Lmdb>;
  readonly wal?: (real: WalFile) => Partial<WalFile>;
}

/** Opens a new store with some parts replaced; the end of the test closes it. */
export async function storeWith(t: TestContext, parts: StoreParts, walBytesEnough: number) {
  const folder = await newFolder();
  // Let the first start, which writes more, pass before parts are replaced.
  await (await openEmbeddedStore(folder, systemClock, assert.fail)).close();
  return storeIn(t, folder, parts, walBytesEnough);
}

/** Opens an existing store with some parts replaced; the end of the test closes it. */
export async function storeIn(
  t: TestContext,
  folder: string,
  parts: StoreParts,
  walBytesEnough: number,
) {
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
  });
  return { store, stops, folder };
}

/** Copies a store's folder as a kill at this moment would leave it. */
export async function copyOf(folder: string): Promise<string> {
  const copy = await newFolder();
  await cp(folder, copy, { recursive: true });
  return copy;
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
