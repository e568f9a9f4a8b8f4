import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { slicesDuring } from "../../base/fair-queue.fixture.ts";
import { MIB } from "../../base/limits.ts";
import { crc64 } from "../../machine/crc64.ts";
import { someBytes } from "../../store/bodies.fixture.ts";
import { digestsOfWhole } from "./xml-body.ts";

test("digests of a long body are computed in slices, between which other work runs", async () => {
  const bytes = someBytes(3 * MIB, 1);
  const slices = await slicesDuring(async () => {
    const found = await digestsOfWhole(bytes, { md5: true, crc64: true });
    assert.deepEqual(found.md5, createHash("md5").update(bytes).digest());
    assert.deepEqual(found.crc64, crc64(bytes));
  });
  assert.ok(slices >= 10, `${slices} slices`);
  const none = await slicesDuring(() => digestsOfWhole(bytes, { md5: false, crc64: false }));
  assert.equal(none, 0);
});
