import assert from "node:assert/strict";
import { test } from "node:test";
import { wholeBody } from "../../base/bytes.ts";
import { appendBlock } from "./append-block.ts";
import { Blobs, NO_PROPERTIES, refused } from "./blobs.fixture.ts";
import { createBlob } from "./create-blob.ts";
import { deleteContainer } from "./delete-container.ts";
import { getBlockList } from "./get-block-list.ts";

const LARGE = Buffer.alloc(100_000, "lazuli");

test("deleting a blob frees its uncommitted blocks and all of its space", async () => {
  const blobs = await Blobs.open();
  await blobs.put("blob", LARGE);
  await blobs.stage("blob", "AAAA", LARGE);
  await blobs.delete("blob", { snapshots: "include" });
  await assert.rejects(blobs.text("blob"), refused("BlobNotFound"));
  await assert.rejects(getBlockList(blobs.context, blobs.use("blob")), refused("BlobNotFound"));
  await blobs.sweep();
  assert.equal(blobs.bytesInExtents(), 0);
});

test("deleting a name with uncommitted blocks only frees all of their space", async () => {
  const blobs = await Blobs.open();
  await blobs.stage("blob", "AAAA", LARGE);
  await assert.rejects(blobs.delete("blob", { snapshots: "only" }), refused("BlobNotFound"));
  await blobs.delete("blob");
  await assert.rejects(getBlockList(blobs.context, blobs.use("blob")), refused("BlobNotFound"));
  await assert.rejects(blobs.delete("blob"), refused("BlobNotFound"));
  await blobs.sweep();
  assert.equal(blobs.bytesInExtents(), 0);
});

test("deleting only snapshots fails if there are none, and never deletes the blob", async () => {
  const blobs = await Blobs.open();
  await blobs.put("blob", "text");
  await assert.rejects(blobs.delete("blob", { snapshots: "only" }), refused("BlobNotFound"));
  assert.equal(await blobs.text("blob"), "text");
});

/** More than a body may take rounds. */
const MANY = 30;

/** Each kind of content whose bytes lie in records of their own. */
const WRITES: Record<string, (blobs: Blobs, blob: string) => Promise<unknown>> = {
  "a blob of blocks": async (blobs, blob) => {
    await blobs.stage(blob, "AAAA", LARGE);
    await blobs.stage(blob, "BBBB", LARGE);
    await blobs.commit(blob, ["AAAA", "BBBB"]);
  },
  "an append blob": async (blobs, blob) => {
    const none = { properties: NO_PROPERTIES, metadata: [], tags: [], tier: null };
    const created = { type: "AppendBlob" as const, length: 0, sequenceNumber: 0n, ...none };
    await createBlob(blobs.context, { ...blobs.use(blob), ...created });
    await appendBlock(blobs.context, {
      ...blobs.use(blob),
      body: wholeBody(LARGE),
      digests: { md5: null, crc64: null },
      computed: { md5: false, crc64: true },
      append: { position: null, bytesMax: null },
    });
  },
};

for (const [kind, write] of Object.entries(WRITES)) {
  test(`deleting many snapshots of ${kind} takes few rounds, and frees all of their space`, async () => {
    const blobs = await Blobs.open();
    for (let i = 0; i < MANY; i++) {
      await write(blobs, "blob");
      await blobs.snapshot("blob");
    }
    await blobs.delete("blob", { snapshots: "include" });
    await blobs.sweep();
    assert.equal(await blobs.recordsOfContents(), 0);
    assert.equal(blobs.bytesInExtents(), 0);
  });

  test(`freeing a deleted container with many blobs like ${kind} takes few rounds`, async () => {
    const blobs = await Blobs.open();
    for (let i = 0; i < MANY; i++) await write(blobs, `blob-${i}`);
    await deleteContainer(blobs.context, blobs.use("any"));
    await blobs.sweep();
    assert.equal(await blobs.recordsOfContents(), 0);
    assert.equal(blobs.bytesInExtents(), 0);
  });
}
