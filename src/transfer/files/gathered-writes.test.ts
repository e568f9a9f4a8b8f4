import assert from "node:assert/strict";
import { constants } from "node:fs";
import { type FileHandle, mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { directIoFlag } from "../../machine/direct-io.ts";
import { GatheredWrites } from "./gathered-writes.ts";

/** More than is gathered. */
const LONG_BYTES = 1_300_000;

/** A file that takes no more than 100,000 bytes at a time, counts the calls, and may fail. */
class ShortFile {
  bytes = Buffer.alloc(0);
  calls = 0;
  error: Error | null = null;

  async write(from: Buffer, offset: number, length: number, at: number) {
    this.calls++;
    if (this.error !== null) throw this.error;
    const taken = from.subarray(offset, offset + Math.min(length, 100_000));
    const end = at + taken.length;
    const longer = Buffer.alloc(Math.max(this.bytes.length, end));
    this.bytes.copy(longer);
    taken.copy(longer, at);
    this.bytes = longer;
    return { bytesWritten: taken.length, buffer: from };
  }

  async read(into: Buffer, offset: number, length: number, at: number) {
    this.bytes.copy(into, offset, at, at + length);
  }

  async truncate(bytes: number) {
    this.bytes = Buffer.concat([this.bytes, Buffer.alloc(bytes)]).subarray(0, bytes);
  }
}

function opened(t: TestContext) {
  const file = new ShortFile();
  const writes = new GatheredWrites(file as unknown as FileHandle);
  t.after(() => writes.close());
  return { file, writes };
}

/** A file that is written past the page cache, where the system has that. */
async function openedDirect(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-writes-"));
  const path = join(folder, "file");
  const flag = await directIoFlag(folder);
  const file = await open(path, constants.O_RDWR | constants.O_CREAT | flag);
  const writes = new GatheredWrites(file);
  t.after(async () => {
    await writes.close();
    await file.close();
    await rm(folder, { recursive: true });
  });
  return { path, writes };
}

test("everything is written, in order, although the system takes it in parts", async (t) => {
  const { file, writes } = opened(t);
  const parts = [10, 600_000, 5, 0, 300_000, 300_000, 7].map((count, at) =>
    Buffer.alloc(count, at),
  );
  for (const part of parts) await writes.write(part);
  const { end } = writes;
  await writes.finish();
  assert.ok(file.bytes.equals(Buffer.concat(parts)));
  assert.equal(end, file.bytes.length);
});

test("short writes are gathered", async (t) => {
  const { file, writes } = opened(t);
  for (let count = 0; count < 1_000; count++) await writes.write(Buffer.from("line\n"));
  assert.equal(file.calls, 0);
  await writes.finish();
  assert.equal(file.calls, 1);
});

test("writes go on behind a gap, in the same page or in a later one", async (t) => {
  for (const gap of [3, 4_096, 5_000, LONG_BYTES]) {
    const { path, writes } = await openedDirect(t);
    const [before, behind] = [Buffer.from("ab"), Buffer.alloc(LONG_BYTES, "c")];
    await writes.write(before);
    await writes.skipTo(before.length + gap);
    await writes.write(behind);
    await writes.finish();
    const expected = Buffer.concat([before, Buffer.alloc(gap), behind]);
    assert.ok((await readFile(path)).equals(expected), `${gap}`);
  }
});

test("a file may end behind what was written", async (t) => {
  const { path, writes } = await openedDirect(t);
  await writes.write(Buffer.from("ab"));
  await writes.finish(10_000);
  const expected = Buffer.concat([Buffer.from("ab"), Buffer.alloc(9_998)]);
  assert.ok((await readFile(path)).equals(expected));
});

test("what was written behind a place is taken back, whether it is gathered or not", async (t) => {
  for (const bytes of [2, LONG_BYTES]) {
    const { path, writes } = await openedDirect(t);
    const before = Buffer.alloc(5_000, "a");
    await writes.write(before);
    await writes.write(Buffer.alloc(bytes, "b"));
    await writes.rewindTo(before.length);
    await writes.write(Buffer.from("XYZ"));
    await writes.finish();
    const expected = Buffer.concat([before, Buffer.from("XYZ")]);
    assert.ok((await readFile(path)).equals(expected), `${bytes}`);
  }
});

test("the end fails if a write has failed while the next buffer was filled", async (t) => {
  const { file, writes } = opened(t);
  file.error = new Error("no space is left");
  await assert.rejects(async () => {
    await writes.write(Buffer.alloc(LONG_BYTES));
    await writes.finish();
  }, /no space/);
});
