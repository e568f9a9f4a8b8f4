import assert from "node:assert/strict";
import { test } from "node:test";
import { Blobs, refused } from "./blobs.fixture.ts";
import { setBlobMetadata } from "./set-blob-metadata.ts";

const LARGE = Buffer.alloc(100_000, "lazuli");
const VERSIONING = { versioning: true, containerRetentionDays: null };

test("a snapshot never changes, whatever happens to the blob", async () => {
  const blobs = await Blobs.open();
  await blobs.put("blob", "first");
  const first = await blobs.snapshot("blob");
  await blobs.put("blob", LARGE);
  const second = await blobs.snapshot("blob");
  await blobs.put("blob", "third");
  assert.equal(await blobs.text("blob", first), "first");
  assert.equal(await blobs.text("blob", second), LARGE.toString());
  assert.equal(await blobs.text("blob"), "third");
});

test("a blob is deleted with its snapshots or not at all", async () => {
  const blobs = await Blobs.open();
  await blobs.put("blob", LARGE);
  const one = await blobs.snapshot("blob");
  const other = await blobs.snapshot("blob");
  await assert.rejects(blobs.delete("blob"), refused("SnapshotsPresent"));
  await blobs.delete("blob", blobs.use("blob", one));
  await assert.rejects(blobs.text("blob", one), refused("BlobNotFound"));
  assert.equal(await blobs.text("blob", other), LARGE.toString());
  await blobs.delete("blob", { snapshots: "only" });
  await assert.rejects(blobs.text("blob", other), refused("BlobNotFound"));
  assert.equal(await blobs.text("blob"), LARGE.toString());
  await blobs.snapshot("blob");
  await blobs.delete("blob", { snapshots: "include" });
  await blobs.sweep();
  assert.equal(await blobs.recordsOfContents(), 0);
});

test("more snapshots than one transaction can delete are all deleted", async () => {
  const blobs = await Blobs.open();
  await blobs.put("blob", "text");
  for (let at = 0; at < 600; at++) await blobs.snapshot("blob");
  await blobs.delete("blob", { snapshots: "include" });
  await blobs.sweep();
  assert.equal(await blobs.recordsOfContents(), 0);
});

test("with versioning, a replaced or deleted blob stays under its version id", async () => {
  const blobs = await Blobs.open();
  blobs.settings = VERSIONING;
  const { versionId: first } = await blobs.put("blob", "first");
  const { versionId: second } = await blobs.put("blob", "second");
  const named = await setBlobMetadata(blobs.context, {
    ...blobs.use("blob"),
    metadata: [["colour", "blue"]],
  });
  await blobs.delete("blob");
  await assert.rejects(blobs.text("blob"), refused("BlobNotFound"));
  assert.equal(await blobs.text("blob", { kind: "version", stamp: first }), "first");
  assert.equal(await blobs.text("blob", { kind: "version", stamp: second }), "second");
  const last = { kind: "version", stamp: named.versionId } as const;
  assert.equal(await blobs.text("blob", last), "second");
  assert.deepEqual((await blobs.open("blob", last)).blob.metadata, [["colour", "blue"]]);
});

test("a blob written before versioning was switched on becomes a version, too", async () => {
  const blobs = await Blobs.open();
  const { etag, versionId } = await blobs.put("blob", "before");
  assert.equal(versionId, 0n);
  blobs.settings = VERSIONING;
  await blobs.put("blob", "after");
  assert.equal(await blobs.text("blob", { kind: "version", stamp: etag }), "before");
});

test("once versioning is switched off, no more versions are created", async () => {
  const blobs = await Blobs.open();
  blobs.settings = VERSIONING;
  const { versionId } = await blobs.put("blob", "version");
  blobs.settings = { versioning: false, containerRetentionDays: null };
  const { etag } = await blobs.put("blob", "no version");
  await blobs.put("blob", "current");
  assert.equal(await blobs.text("blob", { kind: "version", stamp: versionId }), "version");
  const lost = { kind: "version", stamp: etag } as const;
  await assert.rejects(blobs.text("blob", lost), refused("BlobNotFound"));
});

test("the current version cannot be deleted by its id, previous ones can", async () => {
  const blobs = await Blobs.open();
  blobs.settings = VERSIONING;
  const { versionId: old } = await blobs.put("blob", LARGE);
  const { versionId } = await blobs.put("blob", "current");
  await assert.rejects(
    blobs.delete("blob", blobs.use("blob", { kind: "version", stamp: versionId })),
    refused("OperationNotAllowedOnRootBlob"),
  );
  const revision = { kind: "version", stamp: old } as const;
  await blobs.delete("blob", blobs.use("blob", revision));
  await assert.rejects(blobs.text("blob", revision), refused("BlobNotFound"));
  await blobs.sweep();
  assert.equal(blobs.bytesInExtents(), 0);
});

test("deleted blobs keep their bytes until their retention ends", async () => {
  const blobs = await Blobs.open();
  await blobs.keepDeleted(7);
  await blobs.put("blob", LARGE);
  await blobs.put("blob", LARGE);
  await blobs.delete("blob");
  await assert.rejects(blobs.text("blob"), refused("BlobNotFound"));
  blobs.clock.advance(7 * 24 * 3_600_000 - 1);
  await blobs.sweep();
  assert.ok(blobs.bytesInExtents() >= 2 * LARGE.length);
  blobs.clock.advance(1);
  await blobs.sweep();
  assert.equal(blobs.bytesInExtents(), 0);
  assert.equal(await blobs.recordsOfContents(), 0);
});

test("a blob that is deleted repeatedly leaks no bytes", async () => {
  const blobs = await Blobs.open();
  await blobs.keepDeleted(1);
  for (let round = 0; round < 3; round++) {
    await blobs.put("blob", LARGE);
    await blobs.delete("blob");
    // The third deletion finds one whose retention has ended but which is not swept.
    if (round === 1) blobs.clock.advance(24 * 3_600_000);
  }
  blobs.clock.advance(24 * 3_600_000);
  await blobs.sweep();
  assert.equal(await blobs.recordsOfContents(), 0);
});
