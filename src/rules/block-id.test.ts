import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { blockIdBytes, judgeBlockId } from "./block-id.ts";

test("an id is Base64 of 1 to 64 bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 0, maxLength: 70 }), (bytes) => {
      const id = Buffer.from(bytes).toString("base64");
      const expected = bytes.length >= 1 && bytes.length <= 64 ? null : "InvalidBlockId";
      assert.equal(judgeBlockId(id), expected);
      assert.equal(blockIdBytes(id), bytes.length);
    }),
  );
});

test("an id that is not Base64 is refused", () => {
  for (const id of [
    "",
    "A",
    "AA",
    "AAA",
    "AA=A",
    "====",
    "A===",
    "AAAA=",
    "-_-_",
    "AA A",
    "ÄÖÜ=",
    "AAAA\n",
  ]) {
    assert.equal(judgeBlockId(id), "InvalidBlockId", JSON.stringify(id));
  }
});
