import assert from "node:assert/strict";
import type { FileHandle } from "node:fs/promises";
import { test } from "node:test";
import { GatheredWrites } from "./gathered-writes.ts";

/** A file that takes no more than 100,000 bytes at a time, and counts the calls. */
class ShortFile {
  bytes = Buffer.alloc(0);
  calls = 0;

  async write(from: Buffer, offset: number, length: number, at: number) {
    this.calls++;
    const taken = from.subarray(offset, offset + Math.min(length, 100_000));
    const end = at + taken.length;
    const longer = Buffer.alloc(Math.max(this.bytes.length, end));
    this.bytes.copy(longer);
    taken.copy(longer, at);
    this.bytes = longer;
    return { bytesWritten: taken.length, buffer: from };
  }
}

function opened(bytesMax?: number) {
  const file = new ShortFile();
  return { file, writes: new GatheredWrites(file as unknown as FileHandle, bytesMax) };
}

test("everything is written, in order, although the system takes it in parts", async () => {
  const { file, writes } = opened();
  const parts = [10, 600_000, 5, 300_000, 300_000, 7].map((count, at) => Buffer.alloc(count, at));
  for (const part of parts) await writes.write(part);
  await writes.flush();
  assert.ok(file.bytes.equals(Buffer.concat(parts)));
  assert.equal(writes.end, file.bytes.length);
});

test("short writes are gathered", async () => {
  const { file, writes } = opened();
  for (let count = 0; count < 1_000; count++) await writes.write(Buffer.from("line\n"));
  assert.equal(file.calls, 0);
  await writes.flush();
  assert.equal(file.calls, 1);
});

test("writes go on behind a gap", async () => {
  const { file, writes } = opened(3);
  await writes.write(Buffer.from("ab"));
  await writes.skipTo(5);
  await writes.write(Buffer.from("c"));
  await writes.flush();
  assert.equal(`${file.bytes}`, "ab\0\0\0c");
});

test("what was written behind a place is taken back, whether it is gathered or not", async () => {
  for (const flushes of [false, true]) {
    const { file, writes } = opened();
    await writes.write(Buffer.from("abcd"));
    if (flushes) await writes.flush();
    await writes.write(Buffer.from("ef"));
    writes.rewindTo(3);
    await writes.write(Buffer.from("XYZ"));
    await writes.flush();
    assert.equal(`${file.bytes.subarray(0, writes.end)}`, "abcXYZ");
  }
});
