import assert from "node:assert/strict";
import { test } from "node:test";
import { wholeBody } from "../base/bytes.ts";
import { MemoryExtents } from "../engine/memory/extents.ts";
import { LimitedExtents } from "./limited-extents.ts";

const write = (extents: LimitedExtents, bytes: number) =>
  extents.write(wholeBody(Buffer.alloc(bytes)));
const FULL = { kind: "full" };

test("bodies are taken up to the limit, and again once space has been given back", async () => {
  const extents = new LimitedExtents(new MemoryExtents(), 100_000);
  const written = await write(extents, 60_000);
  await assert.rejects(write(extents, 60_000), FULL);
  written.release();
  await extents.remove(written.addresses[0]?.extent ?? 0);
  await write(extents, 60_000);
});

test("bodies that arrive at the same time count together", async () => {
  const extents = new LimitedExtents(new MemoryExtents(), 100_000);
  const both = await Promise.allSettled([write(extents, 60_000), write(extents, 60_000)]);
  assert.deepEqual(
    both.map(({ status }) => status),
    ["fulfilled", "rejected"],
  );
});
