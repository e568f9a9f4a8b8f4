import assert from "node:assert/strict";
import { test } from "node:test";
import type { Space } from "../../base/keys.ts";
import type { Transaction } from "../../store/store.ts";
import { StoreDecorator } from "../../store/store-decorator.ts";
import type { HandleAsked } from "./admit-handle.ts";
import { closeHandle } from "./close-handle.ts";
import type { FileContext } from "./context.ts";
import { listPersistentHandles } from "./list-persistent-handles.ts";
import { lockRanges, unlockRanges } from "./lock-ranges.ts";
import type { Persistent } from "./open-records.ts";
import { EPHEMERAL_SPACES } from "./open-records.ts";
import { Files } from "./opens.fixture.ts";

/** A store that records for each transaction whether it wrote a durable record. */
class LastingWrites extends StoreDecorator {
  found: boolean[] = [];

  override async transact<T>(body: (tx: Transaction) => T): Promise<T> {
    let isLasting = false;
    const result = await this.inner.transact((tx) => {
      isLasting = false;
      const look = (space: number | undefined) => {
        if (!EPHEMERAL_SPACES.has(space as Space)) isLasting = true;
      };
      const set = tx.set.bind(tx);
      const remove = tx.delete.bind(tx);
      tx.set = (key, value) => {
        look(key[0]);
        set(key, value);
      };
      tx.delete = (key) => {
        look(key[0]);
        remove(key);
      };
      return body(tx);
    });
    this.found.push(isLasting);
    return result;
  }
}

const range = { offset: 0n, length: 10n, isExclusive: true };
const persistent: Persistent = {
  account: "account",
  share: "share",
  createGuid: Buffer.alloc(16),
  timeoutMs: 60_000,
  granted: 0,
  mode: 0,
  fileId: 0,
};

/** The steps of a handle's life that write durable records. */
async function lastingSteps(kind: Persistent | null) {
  const files = await Files.open();
  await files.create("file");
  const one = files.context;
  const store = new LastingWrites(one.store);
  const context = { ...one, store } as unknown as FileContext;
  const handle: HandleAsked = await files.open("file", { persistent: kind });
  const noted = (await listPersistentHandles(files.context)).length;
  await lockRanges(context, { ...handle, ranges: [range] });
  await unlockRanges(context, { ...handle, ranges: [range] });
  await closeHandle(context, handle);
  const left = (await listPersistentHandles(files.context)).length;
  return { lasting: store.found, noted, left };
}

test("every change to a persistent handle is durable", async () => {
  assert.deepEqual(await lastingSteps(persistent), {
    lasting: [true, true, true],
    noted: 1,
    left: 0,
  });
});

test("changes to other handles are ephemeral, so they do not wait for the disk", async () => {
  assert.deepEqual(await lastingSteps(null), { lasting: [false, false, false], noted: 0, left: 0 });
});
