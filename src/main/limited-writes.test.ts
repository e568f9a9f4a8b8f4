import assert from "node:assert/strict";
import { test } from "node:test";
import { wholeBody } from "../base/bytes.ts";
import { ManualClock } from "../base/clock.ts";
import { StoredContents } from "../content/stored-contents.ts";
import { MemoryExtents } from "../engine/memory/extents.ts";
import { MemoryStore } from "../engine/memory/store.ts";
import { Machine } from "../machine/machine.ts";
import type { Content } from "../store/content.ts";
import { LimitedWrites } from "./limited-writes.ts";

const write = (extents: LimitedWrites, bytes: number) =>
  extents.write(wholeBody(Buffer.alloc(bytes)));
const FULL = { kind: "full" };

test("bodies are taken up to the limit, and again once space is freed", async () => {
  const extents = new MemoryExtents();
  const limited = new LimitedWrites(extents, 100_000);
  const written = await write(limited, 60_000);
  await assert.rejects(write(limited, 60_000), FULL);
  written.release();
  await extents.remove(written.addresses[0]?.extent ?? 0);
  await write(limited, 60_000);
});

test("bodies that arrive at the same time count together", async () => {
  const extents = new LimitedWrites(new MemoryExtents(), 100_000);
  const both = await Promise.allSettled([write(extents, 60_000), write(extents, 60_000)]);
  assert.deepEqual(
    both.map(({ status }) => status),
    ["fulfilled", "rejected"],
  );
});

test("the sweeper compacts mostly dead extents although there is no space", async () => {
  const store = new MemoryStore(new ManualClock(0));
  const extents = new MemoryExtents();
  const size = 20_000;
  const contents = new StoredContents(
    store,
    extents,
    new Machine(),
    new LimitedWrites(extents, 20 * size),
  );
  const put = async (): Promise<Content> => {
    const body = wholeBody(Buffer.alloc(size));
    const taken = await contents.take(body, { md5: false, crc64: false });
    const content = await store.transact((tx) => contents.keep(tx, taken));
    taken.release();
    return content;
  };
  const all: Content[] = [];
  await assert.rejects(async () => {
    for (;;) all.push(await put());
  }, FULL);
  for (const { extent } of extents.list()) extents.seal(extent);
  const [, ...dropped] = all;
  for (const content of dropped) await store.transact((tx) => contents.drop(tx, content));
  while (await contents.sweep());
  const stored = extents.list().reduce((sum, { bytesOnDisk }) => sum + bytesOnDisk, 0);
  assert.ok(stored < 2 * size, `${stored} bytes are left for one of ${size}`);
  await put();
});
