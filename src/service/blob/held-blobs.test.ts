import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_CONDITIONS } from "../../rules/conditions.ts";
import { HolderScan } from "../shared/holder-scan.ts";
import { Blobs, LEASE_ID } from "./blobs.fixture.ts";
import { deleteContainer } from "./delete-container.ts";
import { HELD_BLOBS } from "./held-blobs.ts";
import { leaseBlob } from "./lease-blob.ts";
import { leaseContainer } from "./lease-container.ts";
import { Paths } from "./paths.fixture.ts";

function acquire(seconds: number) {
  const acquired = { action: "acquire" as const, proposedId: LEASE_ID, isNewId: false };
  return { lease: { ...acquired, durationSeconds: seconds }, conditions: NO_CONDITIONS };
}

async function namesIn(blobs: Blobs): Promise<string[]> {
  const { holders } = await new HolderScan(blobs.store, HELD_BLOBS).list();
  return holders.map(({ account, container, path, held }) => {
    const lease = held.kind === "lease" ? `${held.object} ${held.state} ${held.untilMs}` : "";
    return `${account}/${container}/${path} ${lease}`;
  });
}

test("leases of containers and blobs are found until they end", async () => {
  const blobs = await Blobs.open();
  await blobs.put("one", "1");
  await blobs.put("two", "2");
  const { at, access } = blobs.use("two");
  await leaseBlob(blobs.context, { at, access, ...acquire(15) });
  await leaseContainer(blobs.context, { at, access, ...acquire(-1) });
  const untilMs = blobs.clock.now() + 15_000;
  assert.deepEqual(await namesIn(blobs), [
    "account/container/ container leased null",
    `account/container/two blob leased ${untilMs}`,
  ]);
  blobs.clock.advance(15_000);
  assert.deepEqual(await namesIn(blobs), ["account/container/ container leased null"]);
});

test("a lease that is being broken is shown with the end of its break period", async () => {
  const blobs = await Blobs.open();
  await blobs.put("one", "1");
  const { at, access } = blobs.use("one");
  await leaseBlob(blobs.context, { at, access, ...acquire(-1) });
  const broken = { action: "break" as const, periodSeconds: 10 };
  await leaseBlob(blobs.context, { at, access, lease: broken, conditions: NO_CONDITIONS });
  const untilMs = blobs.clock.now() + 10_000;
  assert.deepEqual(await namesIn(blobs), [`account/container/one blob breaking ${untilMs}`]);
});

test("a blob in directories is found by its whole path", async () => {
  const paths = await Paths.openHierarchical();
  await paths.create("directory", "a/b");
  await paths.create("file", "a/b/c");
  const { blobs } = paths;
  const { at, access } = blobs.use("a/b/c");
  await leaseBlob(blobs.context, { at, access, ...acquire(-1) });
  assert.deepEqual(await namesIn(blobs), ["account/container/a/b/c blob leased null"]);
});

test("what was deleted with its container is not shown, though its records are still there", async () => {
  const blobs = await Blobs.open();
  await blobs.put("one", "1");
  const { at, access } = blobs.use("one");
  await leaseBlob(blobs.context, { at, access, ...acquire(-1) });
  await deleteContainer(blobs.context, { at, access, conditions: NO_CONDITIONS, leaseId: null });
  assert.deepEqual(await namesIn(blobs), []);
});

test("a scan of many records takes several calls, and shows the scan before meanwhile", async () => {
  const blobs = await Blobs.open();
  await blobs.put("leased", "1");
  const { at, access } = blobs.use("leased");
  await leaseBlob(blobs.context, { at, access, ...acquire(-1) });
  // Each record in a step of its own: 80 of them are more than one call reads.
  const scan = new HolderScan(
    blobs.store,
    HELD_BLOBS.map((part) => ({ ...part, recordsPerStep: 1 })),
  );
  const first = await scan.list();
  assert.equal(first.holders.length, 1);
  for (let at = 0; at < 80; at++) await blobs.put(`other ${at}`, "1");
  const release = { action: "release" as const, id: LEASE_ID };
  await leaseBlob(blobs.context, { at, access, lease: release, conditions: NO_CONDITIONS });
  assert.deepEqual(await scan.list(), first);
  assert.deepEqual((await scan.list()).holders, []);
});
