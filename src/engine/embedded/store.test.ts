import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { open } from "lmdb";
import type { Bytes } from "../../base/bytes.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { PAGE_BYTES } from "../../machine/aligned-bytes.ts";
import type { PersistentStore } from "../../store/opened-store.contract.ts";
import { persistentStoreContract } from "../../store/persistent-store.contract.ts";
import { storeContract } from "../../store/store.contract.ts";
import { type Store, StoreError } from "../../store/store.ts";
import { openLmdb } from "./lmdb.ts";
import { openEmbeddedStore } from "./store.ts";

storeContract("embedded", openInNewFolder);
persistentStoreContract("embedded", openInNewFolder);
const openWithShortWal = (clock: Clock) => openInNewFolder(clock, 2 * PAGE_BYTES);
storeContract("embedded, with a WAL that is always full,", openWithShortWal);
persistentStoreContract("embedded, with a WAL that is always full,", openWithShortWal);

function newFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "lazuli-store-"));
}

function unexpected(error: StoreError): never {
  throw error;
}

async function openInNewFolder(clock: Clock, walBytesEnough?: number): Promise<PersistentStore> {
  const folder = await newFolder();
  const open = () => openEmbeddedStore(folder, clock, unexpected, walBytesEnough);
  let store = await open();
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await open();
      return store;
    },
    dispose: async () => {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
}

function isKind(kind: string, message = /./): (error: unknown) => boolean {
  return (error) =>
    error instanceof StoreError && error.kind === kind && message.test(error.message);
}

const A = key(SPACE.blob, 1, "a");
const B = key(SPACE.blob, 1, "b");

function put(store: Store, at: Bytes, text = "x"): Promise<void> {
  return store.transact((tx) => tx.set(at, Buffer.from(text)));
}

/** Flips one bit in every occurrence of a text in the file. */
async function damage(file: string, text: string): Promise<void> {
  const bytes = await readFile(file);
  let places = 0;
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) {
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at);
    places++;
  }
  assert.ok(places > 0, "the text is in the file");
  await writeFile(file, bytes);
}

test("a value that changed on disk is reported as damaged, by its key; the rest is served", async (t) => {
  const folder = await newFolder();
  t.after(() => rm(folder, { recursive: true }));
  const texts = { small: "a text that is easily found", large: "another one ".repeat(2_000) };
  for (const text of Object.values(texts)) {
    const before = await openEmbeddedStore(folder, systemClock, unexpected);
    await put(before, A, text);
    await put(before, B, "kept");
    await before.close();
    await damage(join(folder, "data.mdb"), text);

    const store = await openEmbeddedStore(folder, systemClock, unexpected);
    const byKey = isKind("damaged", new RegExp(A.toString("hex")));
    await assert.rejects(
      store.read((view) => view.get(A)),
      byKey,
    );
    await assert.rejects(
      store.read((view) => view.range(A, keyAfter(B), { limit: 9 })),
      byKey,
    );
    await assert.rejects(
      store.transact((tx) => tx.get(A)),
      byKey,
    );
    assert.equal(await store.read((view) => String(view.get(B))), "kept");
    await put(store, A, "written anew");
    assert.equal(await store.read((view) => String(view.get(A))), "written anew");
    await store.close();
  }
});

test("a folder whose pages are too small for the longest keys is refused", async (t) => {
  const folder = await newFolder();
  t.after(() => rm(folder, { recursive: true }));
  await open({ path: folder, pageSize: 4_096 }).close();
  await assert.rejects(openLmdb(folder), /pages of 4096 bytes/);
});
