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

/** Removed when all tests of a file are over: stores are closed at the end of each test. */
const scratch = mkdtempSync(join(tmpdir(), "lazuli-store-"));
after(() => rm(scratch, { recursive: true }));

function newFolder(): Promise<string> {
  return mkdtemp(join(scratch, "store-"));
}

/** What is to be replaced of LMDB and of each file of the WAL. */
export interface StoreParts {
  readonly lmdb?: (real: RootDatabase<Bytes, Bytes>) => Partial<Lmdb>;
  readonly wal?: (real: WalFile) => Partial<WalFile>;
}

/** A new store of which some parts are replaced, for the time of one test. */
export async function storeWith(t: TestContext, parts: StoreParts, walBytesEnough: number) {
  const folder = await newFolder();
  // What only a new store writes does not count.
  await (await openEmbeddedStore(folder, systemClock, assert.fail)).close();
  return storeIn(t, folder, parts, walBytesEnough);
}

/** The same in a folder that has a store. */
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

/** What a kill would leave of a store's folder at this moment. */
export async function copyOf(folder: string): Promise<string> {
  const copy = await newFolder();
  await cp(folder, copy, { recursive: true });
  return copy;
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
