import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../base/fault.ts";
import { etagOf } from "../../base/stamp.ts";
import { crc64 } from "../../machine/crc64.ts";
import { NO_CONDITIONS } from "../../rules/conditions.ts";
import { Blobs, bodyWith, bytesOf, LEASE_ID, refused, untouchable } from "./blobs.fixture.ts";
import { deleteContainer } from "./delete-container.ts";
import { getBlobProperties } from "./get-blob-properties.ts";
import { leaseBlob } from "./lease-blob.ts";

const LARGE = Buffer.alloc(100_000, "lazuli");
const ONLY_NEW = { ...NO_CONDITIONS, ifNoneMatch: ["*"] };

function acquire(blobs: Blobs, blob: string) {
  return leaseBlob(blobs.context, {
    ...blobs.use(blob),
    lease: { action: "acquire", proposedId: LEASE_ID, isNewId: false, durationSeconds: 60 },
  });
}

function deleteAll(blobs: Blobs) {
  return deleteContainer(blobs.context, { ...blobs.use(""), leaseId: null });
}

test("a refusal that headers and records decide comes before the body is read", async () => {
  const blobs = await Blobs.open();
  await blobs.put("there", "old");
  const missing = { at: { account: "account", container: "missing", blob: "x" } };
  await assert.rejects(blobs.put("x", untouchable(), missing), refused("ContainerNotFound"));
  await assert.rejects(
    blobs.put("there", untouchable(), { conditions: ONLY_NEW }),
    refused("BlobAlreadyExists"),
  );
  await acquire(blobs, "there");
  await assert.rejects(blobs.put("there", untouchable()), refused("LeaseIdMissing"));
  await assert.rejects(blobs.put("x\n", untouchable()), refused("InvalidResourceName"));
});

test("changes while the body arrives count: the write checks everything again", async () => {
  const blobs = await Blobs.open();
  const { etag } = await blobs.put("leased", "old");
  const leased = bodyWith(LARGE, () => acquire(blobs, "leased"));
  await assert.rejects(blobs.put("leased", leased), refused("LeaseIdMissing"));
  assert.equal(await blobs.text("leased"), "old");

  const created = bodyWith(LARGE, () => blobs.put("new", "faster"));
  await assert.rejects(
    blobs.put("new", created, { conditions: ONLY_NEW }),
    refused("BlobAlreadyExists"),
  );
  assert.equal(await blobs.text("new"), "faster");

  const changed = bodyWith(LARGE, () => blobs.put("leased", "next", { leaseId: LEASE_ID }));
  const conditions = { ...NO_CONDITIONS, ifMatch: [etagOf(etag)] };
  await assert.rejects(
    blobs.put("leased", changed, { conditions, leaseId: LEASE_ID }),
    refused("ConditionNotMet"),
  );
  assert.equal(await blobs.text("leased"), "next");

  const orphaned = bodyWith(LARGE, () => deleteAll(blobs));
  await assert.rejects(blobs.put("any", orphaned), refused("ContainerNotFound"));
  await blobs.sweep();
  assert.equal(blobs.bytesInExtents(), 0);
});

test("a body that ends early or has wrong digests leaves nothing behind", async () => {
  const blobs = await Blobs.open();
  const short = bodyWith(LARGE, () => Promise.reject(new Fault("IncompleteBody")));
  await assert.rejects(blobs.put("blob", short), refused("IncompleteBody"));
  const wrong = { md5: null, crc64: Buffer.alloc(8) };
  await assert.rejects(blobs.put("blob", LARGE, { digests: wrong }), refused("Crc64Mismatch"));
  await assert.rejects(blobs.text("blob"), refused("BlobNotFound"));
  await blobs.sweep();
  assert.equal(blobs.bytesInExtents(), 0);
});

test("the response has the body's digests, and its MD5 is stored", async () => {
  const blobs = await Blobs.open();
  const done = await blobs.put("blob", "123456789");
  assert.equal(done.crc64?.toString("base64"), "iJh5CoYUi64=");
  assert.deepEqual(done.crc64, crc64(Buffer.from("123456789")));
  const { blob } = await getBlobProperties(blobs.context, blobs.use("blob"));
  assert.deepEqual(blob.properties.contentMd5, done.md5);
});

test("replacing a blob frees its space", async () => {
  const blobs = await Blobs.open();
  for (let round = 0; round < 5; round++) await blobs.put("blob", LARGE);
  await blobs.sweep();
  blobs.requireInExtents(LARGE.length);
  await blobs.put("blob", "small");
  await blobs.sweep();
  assert.equal(blobs.bytesInExtents(), 0);
  assert.equal(await blobs.text("blob"), "small");
});

test("a blob's modification time never goes backwards, even if the clock does", async () => {
  const blobs = await Blobs.open();
  const first = await blobs.put("blob", "one");
  blobs.clock.advance(-3_600_000);
  const second = await blobs.put("blob", "two");
  assert.equal(second.modifiedMs, first.modifiedMs);
  assert.ok(second.etag > first.etag);
});

test("a reader sees the version it opened, whose space is freed when it closes", async () => {
  const blobs = await Blobs.open();
  const old = Buffer.alloc(1_000_000, "old");
  await blobs.put("blob", old);
  const reading = await blobs.open("blob");
  await blobs.put("blob", "new");
  await blobs.sweep();
  assert.ok((await bytesOf(reading)).equals(old));
  await blobs.sweep();
  assert.equal(blobs.bytesInExtents(), 0);
});
