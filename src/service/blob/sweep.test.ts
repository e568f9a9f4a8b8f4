import assert from "node:assert/strict";
import { test } from "node:test";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { UNCOMMITTED_BLOCKS_RETENTION_MS } from "../../base/limits.ts";
import { OWNER } from "../../rules/access.ts";
import { Blobs } from "./blobs.fixture.ts";
import { createContainer } from "./create-container.ts";
import { deleteContainer } from "./delete-container.ts";
import { BlobSweep } from "./sweep.ts";

const LARGE = Buffer.alloc(100_000, "lazuli");

function deleteAll(blobs: Blobs) {
  return deleteContainer(blobs.context, blobs.use(""));
}

const LIVING: readonly number[] = [
  SPACE.container,
  SPACE.extentPlace,
  SPACE.frontEnd,
  SPACE.leader,
];

/** The number of records other than those of live containers, front ends and the object store. */
async function recordsLeft(blobs: Blobs): Promise<number> {
  return blobs.store.read((view) => {
    const all = view.range(key(SPACE.content), keyAfter(key(SPACE.deletedRevision)), {
      limit: 10_000,
    });
    return all.filter((entry) => !LIVING.includes(entry.key[0] as number)).length;
  });
}

test("a deleted container leaves nothing behind, however much it held", async () => {
  const blobs = await Blobs.open();
  for (let at = 0; at < 600; at++) await blobs.put(`blob${at}`, "text");
  await blobs.put("large", LARGE);
  for (let at = 0; at < 300; at++) await blobs.stage(`staged${at}`, "YQ==", "text");
  await blobs.stage("list", "YQ==", LARGE);
  await blobs.stage("list", "Yg==", LARGE);
  await blobs.commit("list", ["YQ==", "Yg=="]);
  await deleteAll(blobs);
  await blobs.sweep();
  assert.equal(await recordsLeft(blobs), 0);
});

test("a new container of the same name keeps its blobs while the old one is swept", async () => {
  const blobs = await Blobs.open();
  await blobs.put("old", "old");
  await blobs.stage("staged", "YQ==", "old");
  await deleteAll(blobs);
  await createContainer(blobs.context, {
    at: blobs.use("").at,
    access: OWNER,
    publicAccess: "none",
    metadata: [],
  });
  await blobs.put("new", "new");
  await blobs.stage("staged", "YQ==", "new");
  await blobs.sweep();
  assert.equal(await blobs.text("new"), "new");
  await blobs.commit("staged", ["YQ=="]);
  assert.equal(await blobs.text("staged"), "new");
});

test("a round writes few records and reports whether more is left", async () => {
  const blobs = await Blobs.open();
  for (let at = 0; at < 1_000; at++) await blobs.put(`blob${at}`, "");
  await deleteAll(blobs);
  const sweep = new BlobSweep(blobs.context);
  let rounds = 0;
  for (let left = await recordsLeft(blobs); await sweep.sweep(); rounds++) {
    const now = await recordsLeft(blobs);
    assert.ok(left - now <= 3 * 256, `${left - now} records in one round`);
    left = now;
  }
  assert.ok(rounds >= 4, `${rounds} rounds`);
});

test("blocks uncommitted for a week are dropped, newer ones stay", async () => {
  const blobs = await Blobs.open();
  const sweep = new BlobSweep(blobs.context);
  const run = async () => {
    while (await sweep.sweep());
  };
  for (let at = 0; at < 300; at++) await blobs.stage(`old${at}`, "YQ==", "text");
  await blobs.stage("kept", "YQ==", "a");
  blobs.clock.advance(UNCOMMITTED_BLOCKS_RETENTION_MS - 1);
  await run();
  await blobs.stage("kept", "Yg==", "b");
  blobs.clock.advance(3_600_000);
  await run();
  await blobs.commit("kept", ["YQ==", "Yg=="]);
  assert.equal(await blobs.text("kept"), "ab");
  await assert.rejects(blobs.commit("old0", ["YQ=="]));
  await blobs.sweep();
  const staged = await blobs.store.read((view) => {
    const all = key(SPACE.stagedBlob);
    return view.range(all, keyAfter(key(SPACE.stagedBlock)), { limit: 10 }).length;
  });
  assert.equal(staged, 0);
});

test("committed blocks survive the sweep", async () => {
  const blobs = await Blobs.open();
  await blobs.stage("blob", "YQ==", LARGE);
  await blobs.stage("blob", "Yg==", "unused");
  await blobs.commit("blob", ["YQ=="]);
  await blobs.sweep();
  assert.equal(await blobs.text("blob"), LARGE.toString());
});

test("a round reports that nothing is left to do", async () => {
  const blobs = await Blobs.open();
  await blobs.put("blob", "text");
  assert.equal(await new BlobSweep(blobs.context).sweep(), false);
});
