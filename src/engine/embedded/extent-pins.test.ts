import assert from "node:assert/strict";
import {
  type FileHandle,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  rmdir,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type BorrowedBuffer, copyAndRelease } from "../../base/borrowed-buffer.ts";
import { type Bytes, wholeBody } from "../../base/bytes.ts";
import { MIB } from "../../base/limits.ts";
import { alignedBytes, PAGE_BYTES } from "../../machine/aligned-bytes.ts";
import { SYNC_FLAG } from "../../machine/direct-io.ts";
import { machineFor } from "../../machine/machine.fixture.ts";
import { gather, someBytes } from "../../store/bodies.fixture.ts";
import { fill } from "../../store/extents.contract.ts";
import type { Address } from "../../store/extents.ts";
import type { StoreError } from "../../store/store.ts";
import { DiskPace } from "./disk-pace.ts";
import { EngineFigures } from "./engine-figures.ts";
import { ExtentFile } from "./extent-file.ts";
import { EmbeddedExtents } from "./extents.ts";
import { fileHandles } from "./file-handles.fixture.ts";
import { hang } from "./slow-files.fixture.ts";

for (const [what, sentBytes] of [
  ["removed", 36 * MIB],
  ["reused for the next extent", 46 * MIB],
] as const) {
  test(`the sync of an abandoned upload ends on its own file, which is then ${what}`, async (t) => {
    const { extents, folder, failures } = await openExtents(t, 48 * MIB);
    const syncs = await hang(t, "datasync");
    // One sync runs and one waits for it when the client disconnects.
    await assert.rejects(extents.write(brokenOff(64 * MIB, sentBytes)), /went away/);
    await syncs.made(1);
    assert.equal(pinnedIn(extents), 1);
    await extents.remove(1);
    const next = await extents.write(wholeBody(someBytes(50_000, 2)));
    await syncs.release();
    await idle(extents, 1);
    assert.deepEqual(failures, []);
    const [at] = next.addresses as [Address];
    assert.deepEqual(await gather(extents.read(at, 0, at.length)), someBytes(50_000, 2));
    next.release();
    await extents.close();
    assert.deepEqual(await readdir(folder), ["0000000000000002.extent"]);
  });
}

test("an upload of several batches is durable: it ends after a sync that began after its last write", async (t) => {
  const { extents, folder } = await openExtents(t, 48 * MIB);
  const handles = await fileHandles();
  const { datasync } = handles;
  const events: string[] = [];
  t.mock.method(handles, "datasync", async function (this: FileHandle) {
    events.push(`sync of ${(await this.stat()).size}`);
    await datasync.call(this);
    events.push("synced");
  });
  const written = await extents.write(wholeBody(someBytes(6 * MIB, 1)));
  events.push("written");
  const { size } = await stat(join(folder, "0000000000000001.extent"));
  assert.deepEqual(events, [`sync of ${size}`, "synced", "written"]);
  written.release();
});

test("a read that outlives its pin gets the bytes that it asked for", async (t) => {
  const { extents, folder } = await openExtents(t, MIB);
  const bytes = someBytes(100_000, 1);
  const written = await extents.write(wholeBody(bytes));
  const [at] = written.addresses as [Address];
  const reads = await hang(t, "read");
  const borrowed = extents.read(at, 0, at.length).borrow(Number.POSITIVE_INFINITY);
  await reads.made(1);
  written.release();
  await extents.remove(at.extent);
  assert.equal((await readdir(folder)).length, 1, "the file is still read");
  await reads.release();
  assert.ok(copyAndRelease((await borrowed) as BorrowedBuffer).equals(bytes));
  await extents.close();
  assert.deepEqual(await readdir(folder), []);
});

test("closing waits for running I/O, and refuses I/O that has not begun", async (t) => {
  const { extents, failures } = await openExtents(t, 48 * MIB);
  const syncs = await hang(t, "datasync");
  await assert.rejects(extents.write(brokenOff(64 * MIB, 36 * MIB)), /went away/);
  await syncs.made(1);
  let isClosed = false;
  const closed = extents.close().then(() => {
    isClosed = true;
  });
  await assert.rejects(extents.write(wholeBody(someBytes(50_000, 1))), { kind: "broken" });
  await assert.rejects(extents.remove(1), { kind: "broken" });
  assert.equal(isClosed, false);
  await syncs.release();
  await closed;
  assert.deepEqual(failures, []);
});

test("a file that is closed for good never opens its path again", async (t) => {
  const path = join(await newFolder(t), "file");
  await writeFile(path, "before");
  const failures: StoreError[] = [];
  const file = newFile(path, failures);
  file.pin();
  const closed = file.closeForGood();
  await closed;
  await writeFile(path, "of another extent");
  const pages = alignedBytes(PAGE_BYTES);
  await assert.rejects(file.read(pages, 0, false), { kind: "broken" });
  await assert.rejects(file.sync(), /closed for good/);
  for (const durably of [true, false]) {
    await assert.rejects(write(file, pages, durably), { kind: "broken" });
  }
  assert.equal(await readFile(path, "utf8"), "of another extent");
  assert.deepEqual(failures, []);
});

test("a file that could not be opened can be closed", async (t) => {
  const file = newFile(join(await newFolder(t), "missing"), []);
  file.pin();
  const read = file.read(alignedBytes(PAGE_BYTES), 0, false);
  await Promise.all([assert.rejects(read, { kind: "damaged" }), file.close()]);
});

test("a spare file that could not be renamed stays for the next try", async (t) => {
  const { extents, folder } = await openExtents(t, MIB);
  const first = await fill(extents);
  const { ino } = await stat(join(folder, "0000000000000001.extent"));
  await extents.remove(first);
  const inTheWay = join(folder, "0000000000000002.extent");
  await mkdir(inTheWay);
  await assert.rejects(extents.write(wholeBody(someBytes(50_000, 1))), { kind: "broken" });
  await rmdir(inTheWay);
  (await extents.write(wholeBody(someBytes(50_000, 1)))).release();
  assert.equal((await stat(inTheWay)).ino, ino);
});

async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-extents-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

async function openExtents(t: TestContext, extentBytesMax: number) {
  const folder = await newFolder(t);
  const failures: StoreError[] = [];
  const failStop = (error: StoreError) => void failures.push(error);
  const extents = await EmbeddedExtents.open({
    folder,
    machine: machineFor(t),
    endOfUse: null,
    failStop,
    extentBytesMax,
  });
  t.after(() => extents.close());
  return { extents, folder, failures };
}

/** The body of a client that disconnects after this many bytes. */
function brokenOff(length: number, sentBytes: number) {
  return {
    length,
    async drain(take: (part: Bytes) => void | Promise<void>) {
      const part = someBytes(MIB, 1);
      for (let sent = 0; sent < sentBytes; sent += MIB) await take(part);
      throw new Error("the client went away");
    },
  };
}

function pinnedIn(extents: EmbeddedExtents): number {
  return extents.list().filter(({ pinned }) => pinned).length;
}

/** Waits until an extent is removed or unpinned. */
async function idle(extents: EmbeddedExtents, extent: number): Promise<void> {
  const isPinned = () => extents.list().some((info) => info.extent === extent && info.pinned);
  while (isPinned()) await new Promise(setImmediate);
}

function newFile(path: string, failures: StoreError[]): ExtentFile {
  return new ExtentFile({
    extent: 1,
    path,
    end: 0,
    bytesMax: MIB,
    sealed: false,
    directFlag: 0,
    syncFlag: SYNC_FLAG,
    pace: new DiskPace(),
    figures: new EngineFigures(),
    failStop: (error) => failures.push(error),
    onIdle() {},
  });
}

function write(file: ExtentFile, pages: Bytes, durably: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    file.write(pages, 0, durably, { written: resolve, failed: reject });
  });
}
