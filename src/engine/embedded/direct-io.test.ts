import assert from "node:assert/strict";
import { constants } from "node:fs";
import { mkdtemp, open, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { wholeBody } from "../../base/bytes.ts";
import { alignedBytes, PAGE_BYTES } from "../../machine/aligned-bytes.ts";
import { directIoFlag, directIoNote, syncFlagOn } from "../../machine/direct-io.ts";
import { machineFor } from "../../machine/machine.fixture.ts";
import { EmbeddedExtents } from "./extents.ts";
import { fileHandles } from "./file-handles.fixture.ts";

const SHARED_MEMORY = "/dev/shm";
const { O_RDWR, O_CREAT, O_DIRECT } = constants;
const linuxOnly = { skip: process.platform !== "linux" && "needs the flag of Linux" };

test("files can be written and read with the flag, which may be 0", async (t) => {
  const places = [tmpdir(), ...(process.platform === "linux" ? [SHARED_MEMORY] : [])];
  for (const place of places) {
    const folder = await newFolder(t, place);
    const flag = await directIoFlag(folder);
    assert.ok(flag === 0 || flag === O_DIRECT);
    assert.deepEqual(await readdir(folder), [], "the trial leaves nothing behind");
    const file = await open(join(folder, "file"), O_RDWR | O_CREAT | flag);
    t.after(() => file.close());
    const pages = alignedBytes(3 * PAGE_BYTES).fill(7);
    await file.write(pages, 0, pages.length, PAGE_BYTES);
    const read = alignedBytes(2 * PAGE_BYTES);
    await file.read(read, 0, read.length, 2 * PAGE_BYTES);
    assert.ok(read.equals(pages.subarray(PAGE_BYTES)));
  }
});

test("a folder that takes no files has no flag", linuxOnly, async () => {
  assert.equal(await directIoFlag("/proc"), 0);
  assert.equal(await directIoFlag("/nowhere"), 0);
});

/** No file can be made with it, as with direct I/O on some file systems. */
const REFUSED_FLAG = constants.O_DIRECTORY;

test("a refused flag is not used, and the operator reads why", linuxOnly, async (t) => {
  const folder = await newFolder(t, tmpdir());
  const used = await directIoFlag(folder, REFUSED_FLAG);
  assert.equal(used, 0);
  assert.deepEqual(await readdir(folder), [], "the trial leaves nothing behind");
  assert.match(directIoNote(folder, used, REFUSED_FLAG) ?? "", /has no direct I\/O: .*--location/);
  assert.equal(directIoNote(folder, REFUSED_FLAG, REFUSED_FLAG), null);
});

test("a system without the flag makes no trial, and its folders get no note", async () => {
  assert.equal(await directIoFlag("/nowhere", 0), 0);
  assert.equal(directIoNote("/nowhere", 0, 0), null);
});

/** Few enough to be written and synced in one call on Linux. */
const FEW_BYTES = 50_000;

for (const platform of ["darwin", "win32"] as const) {
  test(`on ${platform} a sync follows the write of a small body`, async (t) => {
    const folder = await newFolder(t, tmpdir());
    const extents = await EmbeddedExtents.open({
      folder,
      machine: machineFor(t),
      endOfUse: null,
      failStop: (error) => assert.fail(error),
      syncFlag: syncFlagOn(platform),
    });
    t.after(() => extents.close());
    const calls = t.mock.method(await fileHandles(), "datasync").mock;
    (await extents.write(wholeBody(Buffer.alloc(FEW_BYTES, 1)))).release();
    assert.equal(calls.callCount(), 1);
  });
}

async function newFolder(t: TestContext, place: string): Promise<string> {
  const folder = await mkdtemp(join(place, "lazuli-direct-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}
