import assert from "node:assert/strict";
import { test } from "node:test";
import { Blobs, refused } from "./blobs.fixture.ts";
import { type Past, placeRevision } from "./place-revision.ts";

const NOTHING: Past = {
  kind: "current",
  id: null,
  etag: null,
  createdMs: null,
  modifiedMs: null,
  retained: null,
};
/** Later than every stamp that a store gives out in a test. */
const FUTURE = 2n ** 62n;

const place = (blobs: Blobs, past: Partial<Past>) =>
  placeRevision(blobs.context, { ...blobs.use("blob"), past: { ...NOTHING, ...past } });

test("an id that a name has already is refused, and both blobs stay as they were", async () => {
  const blobs = await Blobs.open();
  await blobs.put("blob", "old");
  await place(blobs, { kind: "snapshot", id: 5n });
  await blobs.put("blob", "new");
  await assert.rejects(place(blobs, { kind: "snapshot", id: 5n }), refused("BlobAlreadyExists"));
  assert.equal(await blobs.text("blob", { kind: "snapshot", stamp: 5n }), "old");
  assert.equal(await blobs.text("blob"), "new");
  await blobs.delete("blob", { snapshots: "include" });
  await blobs.sweep();
  assert.equal(await blobs.recordsOfContents(), 0, "no bytes are left over");
});

test("ids and ETags of the future are replaced: the store will give them out itself", async () => {
  const blobs = await Blobs.open();
  await blobs.put("blob", "text");
  const retained = await place(blobs, { etag: 7n });
  assert.equal(retained.etag, 7n);
  const replaced = await place(blobs, { etag: FUTURE, id: FUTURE });
  assert.ok(replaced.etag < FUTURE && replaced.versionId < FUTURE);
});
