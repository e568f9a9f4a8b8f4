import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMITTED_BLOCKS_MAX } from "../base/limits.ts";
import { judgeAppend, judgeByPosition } from "./append-block.ts";

const FOUND = { bytes: 100, blocks: 3, isSealed: false };
const NONE = { position: null, bytesMax: null };

test("a block is refused unless it begins at the expected position", () => {
  const code = "AppendPositionConditionNotMet";
  assert.equal(judgeAppend(FOUND, 10, NONE), null);
  assert.equal(judgeAppend(FOUND, 10, { ...NONE, position: 100 }), null);
  for (const position of [0, 99, 101]) {
    assert.equal(judgeAppend(FOUND, 10, { ...NONE, position }), code);
    assert.equal(judgeByPosition(FOUND, position), code);
  }
});

test("a block is refused if it makes the blob larger than its sender allows", () => {
  assert.equal(judgeAppend(FOUND, 10, { ...NONE, bytesMax: 110 }), null);
  const code = "MaxBlobSizeConditionNotMet";
  assert.equal(judgeAppend(FOUND, 11, { ...NONE, bytesMax: 110 }), code);
});

test("a blob takes 50,000 blocks and no more", () => {
  const last = { ...FOUND, blocks: COMMITTED_BLOCKS_MAX - 1 };
  assert.equal(judgeAppend(last, 1, NONE), null);
  const full = { ...FOUND, blocks: COMMITTED_BLOCKS_MAX };
  assert.equal(judgeAppend(full, 1, NONE), "BlockCountExceedsLimit");
});

test("a sealed blob takes no block, whatever else is asked", () => {
  const wrong = { position: 1, bytesMax: 1 };
  assert.equal(judgeAppend({ ...FOUND, isSealed: true }, 1, wrong), "BlobIsSealed");
});
