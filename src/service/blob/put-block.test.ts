import assert from "node:assert/strict";
import { test } from "node:test";
import { UNCOMMITTED_BLOCKS_MAX, UNCOMMITTED_BLOCKS_RETENTION_MS } from "../../base/limits.ts";
import { OWNER } from "../../rules/access.ts";
import { admitToContainer } from "./admit.ts";
import { Blobs, bodyWith, LEASE_ID, refused, untouchable } from "./blobs.fixture.ts";
import { getBlockList } from "./get-block-list.ts";
import { leaseBlob } from "./lease-blob.ts";
import { readStagedBlob, writeStagedBlob } from "./records.ts";

const LARGE = Buffer.alloc(100_000, "lazuli");

async function uncommitted(blobs: Blobs, blob: string): Promise<string[]> {
  const lists = await getBlockList(blobs.context, blobs.use(blob));
  return lists.uncommitted.map(({ id, content }) => `${id}:${content.length}`);
}

test("a refusal that headers and records decide comes before the body is read", async () => {
  const blobs = await Blobs.open();
  await blobs.stage("blob", "AAAA", "block");
  await assert.rejects(blobs.stage("blob", "A", untouchable()), refused("InvalidBlockId"));
  await assert.rejects(blobs.stage("blob", "AA==", untouchable()), refused("InvalidBlobOrBlock"));
  const missing = { at: { account: "account", container: "missing", blob: "x" } };
  await assert.rejects(
    blobs.stage("x", "AAAA", untouchable(), missing),
    refused("ContainerNotFound"),
  );
});

test("a lease acquired while the body arrives refuses the block", async () => {
  const blobs = await Blobs.open();
  await blobs.put("blob", "old");
  const body = bodyWith(LARGE, () =>
    leaseBlob(blobs.context, {
      ...blobs.use("blob"),
      lease: { action: "acquire", proposedId: LEASE_ID, isNewId: false, durationSeconds: 60 },
    }),
  );
  await assert.rejects(blobs.stage("blob", "AAAA", body), refused("LeaseIdMissing"));
  assert.deepEqual(await uncommitted(blobs, "blob"), []);
  await blobs.stage("blob", "AAAA", "block", { leaseId: LEASE_ID });
});

test("a create-only SAS cannot stage a block for a blob created while the body arrives", async () => {
  const blobs = await Blobs.open();
  const access = { kind: "account-sas", types: "o", letters: "c" } as const;
  await blobs.stage("blob", "AAAA", "block", { access });
  const body = bodyWith(LARGE, () => blobs.put("blob", "made"));
  await assert.rejects(
    blobs.stage("blob", "BBBB", body, { access }),
    refused("UnauthorizedBlobOverwrite"),
  );
});

test("of two concurrent blocks with ids of different lengths, one is refused", async () => {
  const blobs = await Blobs.open();
  const body = bodyWith(LARGE, () => blobs.stage("blob", "AA==", "faster"));
  await assert.rejects(blobs.stage("blob", "AAAA", body), refused("InvalidBlobOrBlock"));
  assert.deepEqual(await uncommitted(blobs, "blob"), ["AA==:6"]);
});

test("replacing a block frees its space", async () => {
  const blobs = await Blobs.open();
  for (let round = 0; round < 3; round++) await blobs.stage("blob", "AAAA", LARGE);
  await blobs.sweep();
  blobs.requireInExtents(LARGE.length);
  await blobs.stage("blob", "AAAA", "small");
  await blobs.sweep();
  assert.equal(blobs.bytesInExtents(), 0);
  assert.deepEqual(await uncommitted(blobs, "blob"), ["AAAA:5"]);
});

test("a blob has up to 100,000 uncommitted blocks, each of which can be replaced", async () => {
  const blobs = await Blobs.open();
  await blobs.stage("blob", "AAAA", "block");
  await blobs.store.transact((tx) => {
    const asked = { at: blobs.use("blob").at, access: OWNER };
    const parent = admitToContainer(tx, asked, {
      on: "o",
      account: "",
      service: "",
      anonymous: "never",
      actions: [],
    });
    const staged = readStagedBlob(tx, { parent, name: "blob" });
    assert.ok(staged !== null);
    writeStagedBlob(tx, { parent, name: "blob" }, { ...staged, blocks: UNCOMMITTED_BLOCKS_MAX });
  });
  await assert.rejects(
    blobs.stage("blob", "BBBB", untouchable()),
    refused("BlockCountExceedsLimit"),
  );
  await blobs.stage("blob", "AAAA", "again");
});

test("uncommitted blocks are gone after a week", async () => {
  const blobs = await Blobs.open();
  await blobs.stage("blob", "AAAA", LARGE);
  blobs.clock.advance(UNCOMMITTED_BLOCKS_RETENTION_MS - 1);
  await blobs.sweep();
  assert.deepEqual(await uncommitted(blobs, "blob"), ["AAAA:100000"]);
  blobs.clock.advance(1);
  await blobs.sweep();
  await assert.rejects(uncommitted(blobs, "blob"), refused("BlobNotFound"));
  assert.equal(blobs.bytesInExtents(), 0);
});
