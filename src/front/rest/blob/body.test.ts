import assert from "node:assert/strict";
import { test } from "node:test";
import { MIB } from "../../../base/limits.ts";
import { putBlobBytesMax, putBlockBytesMax } from "./body-limits.ts";

test("limits depend on the client's version", () => {
  assert.equal(putBlobBytesMax("2026-04-06"), 5_000 * MIB);
  assert.equal(putBlobBytesMax("2019-12-12"), 5_000 * MIB);
  assert.equal(putBlobBytesMax("2019-07-07"), 256 * MIB);
  assert.equal(putBlobBytesMax("2016-05-31"), 256 * MIB);
  assert.equal(putBlobBytesMax("2015-12-11"), 64 * MIB);
  assert.equal(putBlockBytesMax("2019-12-12"), 4_000 * MIB);
  assert.equal(putBlockBytesMax("2016-05-31"), 100 * MIB);
  assert.equal(putBlockBytesMax("2015-12-11"), 4 * MIB);
});
