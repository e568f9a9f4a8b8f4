import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Bytes } from "../../base/bytes.ts";
import { COMMITTED_BLOCKS_MAX } from "../../base/limits.ts";
import { StoredContents } from "../../content/stored-contents.ts";
import { MemoryExtents } from "../../engine/memory/extents.ts";
import { Machine } from "../../machine/machine.ts";
import { prefetch } from "../../store/accelerated.ts";
import { altered } from "../../store/altered-store.fixture.ts";
import type { RangeOptions } from "../../store/entry.ts";
import type { Transaction, View } from "../../store/store.ts";
import { IN_MEMORY } from "../shared/service-data.fixture.ts";
import { Blobs, refused } from "./blobs.fixture.ts";
import { PAGE_BLOCKS } from "./block-lists.ts";
import type { BlobContext } from "./context.ts";
import { getBlockList } from "./get-block-list.ts";
import { FEW_BLOCKS } from "./put-block-list.ts";

/** A store in which `faster` runs before every transaction. */
function racing(blobs: Blobs, faster: () => Promise<unknown>): BlobContext {
  const { context } = blobs;
  const store = altered(context.store, {
    async transact(body) {
      await faster();
      return context.store.transact(body);
    },
  });
  return { ...context, store };
}

function idOf(at: number): string {
  const bytes = Buffer.alloc(3);
  bytes.writeUIntBE(at, 0, 3);
  return bytes.toString("base64");
}

/** Stages enough blocks that they are looked up before the transaction. */
async function stageMany(blobs: Blobs): Promise<void> {
  for (let at = 0; at <= FEW_BLOCKS; at++) await blobs.stage("blob", idOf(at), "old");
}

test("a block that is replaced between lookup and commit is committed with its new bytes", async () => {
  const blobs = await Blobs.open();
  await stageMany(blobs);
  let races = 0;
  const once = racing(blobs, async () => {
    // The first transaction finds too many blocks.
    if (++races === 2) await blobs.stage("blob", idOf(1), "new");
  });
  await blobs.commit("blob", [idOf(1)], once);
  assert.equal(races, 3);
  assert.equal(await blobs.text("blob"), "new");
});

test("blocks that change all the time are committed all the same", async () => {
  const blobs = await Blobs.open();
  await stageMany(blobs);
  let races = 0;
  const always = racing(blobs, () => blobs.stage("blob", idOf(1), `version ${++races}`));
  await blobs.commit("blob", [idOf(1)], always);
  assert.equal(await blobs.text("blob"), `version ${races}`);
  assert.equal(races, 5);
});

test("few blocks are committed in one transaction, and reused ones cost no records", async () => {
  const blobs = await Blobs.open();
  const ids = [idOf(1), idOf(2), idOf(3)];
  for (const id of ids) await blobs.stage("blob", id, id);
  await blobs.commit("blob", ids);
  const { context, most } = measuring(blobs);
  await blobs.commit("blob", [...ids].reverse(), context);
  assert.ok(most() <= 11, `${most()} records`);
  assert.equal(await blobs.text("blob"), `${idOf(3)}${idOf(2)}${idOf(1)}`);
});

test("rearranging blocks does not change snapshots, versions or soft-deleted blobs", async () => {
  const ids = [idOf(1), idOf(2)];
  const made = async (prepare: (blobs: Blobs) => Promise<void> | void) => {
    const blobs = await Blobs.open();
    await prepare(blobs);
    for (const id of ids) await blobs.stage("blob", id, id);
    const { versionId } = await blobs.commit("blob", ids);
    return { blobs, versionId };
  };
  const rearrange = async (blobs: Blobs) => {
    await blobs.commit("blob", [idOf(2), idOf(1)]);
    await blobs.sweep();
    assert.equal(await blobs.text("blob"), `${idOf(2)}${idOf(1)}`);
  };

  const { blobs: seen } = await made(() => {});
  const snapshot = await seen.snapshot("blob");
  await rearrange(seen);
  assert.equal(await seen.text("blob", snapshot), ids.join(""));

  const { blobs: versioned, versionId } = await made((blobs) => {
    blobs.settings = { ...blobs.settings, versioning: true };
  });
  await rearrange(versioned);
  assert.equal(await versioned.text("blob", { kind: "version", stamp: versionId }), ids.join(""));

  const { blobs: retained } = await made((blobs) => blobs.keepDeleted(1));
  await rearrange(retained);
  retained.clock.advance(2 * 86_400_000);
  await retained.sweep();
  assert.equal(await retained.text("blob"), `${idOf(2)}${idOf(1)}`);
  await retained.keepDeleted(null);
  await retained.delete("blob");
  await retained.sweep();
  assert.equal(await retained.recordsOfContents(), 0);
});

test("a short list that is rearranged between lookup and commit is looked up again", async () => {
  const blobs = await Blobs.open();
  for (const id of [idOf(1), idOf(2)]) await blobs.stage("blob", id, id);
  await blobs.commit("blob", [idOf(1), idOf(2)]);
  const once = racing(blobs, () => blobs.commit("blob", [idOf(2)]));
  const wanted = new Array(FEW_BLOCKS + 1).fill(idOf(1));
  await assert.rejects(blobs.commit("blob", wanted, once), refused("InvalidBlockList"));
  assert.equal(await blobs.text("blob"), idOf(2));
});

test("many blocks that change all the time are refused as busy until they stop changing", async () => {
  const blobs = await Blobs.open();
  const ids = Array.from({ length: PAGE_BLOCKS + 1 }, (_, at) => idOf(at));
  for (const id of ids) await blobs.stage("blob", id, "x");
  const always = racing(blobs, () => blobs.stage("blob", idOf(0), "x"));
  await assert.rejects(blobs.commit("blob", ids, always), refused("ServerBusy"));
  await assert.rejects(blobs.commit("blob", [idOf(0)], always), refused("ServerBusy"));
  await blobs.commit("blob", ids);
  assert.equal((await blobs.text("blob")).length, ids.length);
});

test("a blob that is replaced between lookup and commit loses its blocks", async () => {
  const blobs = await Blobs.open();
  await blobs.stage("blob", idOf(1), "kept");
  await blobs.commit("blob", [idOf(1)]);
  const replaced = racing(blobs, () => blobs.put("blob", "replaced"));
  await assert.rejects(blobs.commit("blob", [idOf(1)], replaced), refused("InvalidBlockList"));
  assert.equal(await blobs.text("blob"), "replaced");
});

test("a list has up to 50,000 blocks", async () => {
  const blobs = await Blobs.open();
  await blobs.stage("blob", idOf(1), "x");
  const ids = Array.from({ length: COMMITTED_BLOCKS_MAX }, () => idOf(1));
  await assert.rejects(blobs.commit("blob", [...ids, idOf(1)]), refused("BlockListTooLong"));
  await blobs.commit("blob", ids);
  assert.equal((await blobs.open("blob")).reading.length, COMMITTED_BLOCKS_MAX);
});

/** The largest number of records that one read or transaction has used. */
function measuring(blobs: Blobs): { context: BlobContext; most: () => number } {
  let most = 0;
  const counted = <T>(view: View, body: (view: View) => T): T => {
    let records = 0;
    const count = <R>(more: number, result: R): R => {
      records += more;
      most = Math.max(most, records);
      return result;
    };
    const tx = view as Transaction;
    return body({
      get: (key: Bytes) => count(1, tx.get(key)),
      range: (from: Bytes, until: Bytes, options: RangeOptions) => {
        const entries = tx.range(from, until, options);
        return count(entries.length, entries);
      },
      set: (key: Bytes, value: Bytes) => count(1, tx.set(key, value)),
      delete: (key: Bytes) => count(1, tx.delete(key)),
      now: () => tx.now(),
      onDiscard: (release) => tx.onDiscard(release),
      prefetch: (needs) => prefetch(tx, needs),
      stamp: () => tx.stamp(),
    } as Transaction);
  };
  const store = altered(blobs.store, {
    read: (body) => blobs.store.read((view) => counted(view, body)),
    transact: (body) =>
      blobs.store.transact((tx) => counted(tx, (view) => body(view as Transaction))),
  });
  const contents = new StoredContents(store, new MemoryExtents(), new Machine());
  return { context: { ...blobs.context, store, contents }, most: () => most };
}

test("no transaction of a commit of 20,000 blocks uses more than a few thousand records", async () => {
  const blobs = await Blobs.open(false, IN_MEMORY);
  const ids = Array.from({ length: 20_000 }, (_, at) => idOf(at));
  for (const id of ids) await blobs.stage("blob", id, "x");
  const { context, most } = measuring(blobs);
  await blobs.commit("blob", ids, context);
  await blobs.commit("blob", ids.toReversed(), context);
  assert.ok(most() <= 2_500, `${most()} records in one body`);
  assert.equal((await blobs.text("blob")).length, ids.length);
  await blobs.delete("blob");
  await blobs.sweep();
  assert.equal(await blobs.recordsOfContents(), 0);
});

test("a long commit starts over when blocks change, and its first attempt leaves nothing", async () => {
  const blobs = await Blobs.open(false, IN_MEMORY);
  const ids = Array.from({ length: 3_000 }, (_, at) => idOf(at));
  for (const id of ids) await blobs.stage("blob", id, "old ");
  let transactions = 0;
  const store = altered(blobs.store, {
    async transact(body) {
      // The third transaction is in the middle of the list.
      if (++transactions === 3) await blobs.stage("blob", ids[0] as string, "new ");
      return blobs.store.transact(body);
    },
  });
  const contents = new StoredContents(store, new MemoryExtents(), new Machine());
  await blobs.commit("blob", ids, { ...blobs.context, store, contents });
  assert.equal(await blobs.text("blob"), `new ${"old ".repeat(ids.length - 1)}`);
  await blobs.delete("blob");
  await blobs.sweep();
  assert.equal(await blobs.recordsOfContents(), 0);
});

test("lists of several pages are read whole and in order", async () => {
  const blobs = await Blobs.open();
  const ids = Array.from({ length: 4_500 }, (_, at) => idOf(at));
  for (const id of ids) await blobs.stage("blob", id, id);
  const before = await getBlockList(blobs.context, blobs.use("blob"));
  assert.deepEqual(
    before.uncommitted.map(({ id }) => id),
    [...ids].sort(),
  );
  await blobs.commit("blob", ids);
  for (const id of ids.slice(0, 2_100)) await blobs.stage("blob", id, "again");
  const lists = await getBlockList(blobs.context, blobs.use("blob"));
  assert.deepEqual(
    lists.committed.map(({ name }) => name),
    ids,
  );
  assert.equal(lists.uncommitted.length, 2_100);
  assert.equal(await blobs.text("blob"), ids.join(""));
});

test("a commit frees the space of unused blocks, at once or in a sweep", async () => {
  const blobs = await Blobs.open();
  const block = Buffer.alloc(20_000, "block");
  for (const at of [1, 2, 3, 4, 5]) await blobs.stage("blob", idOf(at), block);
  await blobs.commit("blob", [idOf(1), idOf(2), idOf(1)]);
  await blobs.sweep();
  blobs.requireInExtents(2 * block.length);
  await blobs.commit("blob", [idOf(2)]);
  await blobs.stage("blob", idOf(3), block);
  await blobs.stage("blob", idOf(4), block);
  await blobs.commit("blob", [idOf(2)]);
  await blobs.sweep();
  blobs.requireInExtents(block.length);
  await blobs.delete("blob");
  await blobs.sweep();
  assert.equal(blobs.bytesInExtents(), 0);
});

const steps = fc.array(
  fc.oneof(
    fc.record({
      step: fc.constant("stage" as const),
      id: fc.integer({ min: 0, max: 5 }),
      large: fc.boolean(),
    }),
    fc.record({
      step: fc.constant("commit" as const),
      list: fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 8 }),
    }),
    fc.record({ step: fc.constantFrom("put" as const, "delete" as const, "sweep" as const) }),
  ),
  { maxLength: 30 },
);

test("after any operations on blocks, the blob matches a model and nothing is left over", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const blobs = await Blobs.open();
      let committed = new Map<string, string>();
      const staged = new Map<string, string>();
      let text: string | null = null;
      let writes = 0;
      for (const step of history) {
        if (step.step === "stage") {
          const body = `${writes++} `.repeat(step.large ? 6_000 : 1);
          await blobs.stage("blob", idOf(step.id), body);
          staged.set(idOf(step.id), body);
        } else if (step.step === "commit") {
          const known = (id: string) => staged.get(id) ?? committed.get(id);
          const ids = step.list.map(idOf).filter((id) => known(id) !== undefined);
          await blobs.commit("blob", ids);
          committed = new Map(ids.map((id) => [id, known(id) as string]));
          text = ids.map((id) => committed.get(id)).join("");
          staged.clear();
        } else if (step.step === "put") {
          text = `whole ${writes++}`;
          await blobs.put("blob", text);
          committed.clear();
          staged.clear();
        } else if (step.step === "delete" && text !== null) {
          await blobs.delete("blob");
          text = null;
          committed.clear();
          staged.clear();
        } else if (step.step === "sweep") {
          await blobs.sweep();
        }
        if (text !== null) assert.equal(await blobs.text("blob"), text);
      }
      await blobs.put("blob", "");
      await blobs.delete("blob");
      await blobs.sweep();
      assert.equal(blobs.bytesInExtents(), 0);
      assert.equal(await blobs.recordsOfContents(), 0);
    }),
    { numRuns: 150 },
  );
});
