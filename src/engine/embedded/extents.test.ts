import assert from "node:assert/strict";
import fs from "node:fs";
import { mkdtemp, open, readdir, rm, stat, symlink, truncate, unlink } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  type BorrowedBuffer,
  borrowWhole,
  copyAndRelease,
  eachBorrowed,
} from "../../base/borrowed-buffer.ts";
import { wholeBody } from "../../base/bytes.ts";
import { MIB } from "../../base/limits.ts";
import { alignedBytes } from "../../machine/aligned-bytes.ts";
import { crc64 as crc64Of } from "../../machine/crc64.ts";
import { SYNC_FLAG } from "../../machine/direct-io.ts";
import { machineFor } from "../../machine/machine.fixture.ts";
import { gather, someBytes } from "../../store/bodies.fixture.ts";
import {
  CONTRACT_EXTENT_BYTES,
  extentsContract,
  fill,
  growingExtentsContract,
} from "../../store/extents.contract.ts";
import type { Address, EndOfUse } from "../../store/extents.ts";
import type { StoreError } from "../../store/store.ts";
import { EmbeddedExtents } from "./extents.ts";
import { fileHandles } from "./file-handles.fixture.ts";

extentsContract("embedded", async (t) => openIn(t, await newFolder(t)));
growingExtentsContract("embedded", async (t) => openIn(t, await newFolder(t)));

test("bodies that arrive faster than they are written take a few MiB of memory each", async (t) => {
  const extents = await openIn(t, await newFolder(t), null, 256 * MIB);
  const part = someBytes(MIB, 1);
  let borrowed = 0;
  let peak = 0;
  const body = {
    length: 24 * MIB,
    async drain(take: (bytes: Buffer) => void | Promise<void>) {
      for (let at = 0; at < this.length; at += MIB) await take(part);
    },
  };
  const tap = async (chunks: readonly Buffer[]) => {
    const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
    borrowed += bytes;
    peak = Math.max(peak, borrowed);
    for (let round = 0; round < 20; round++) await new Promise(setImmediate);
    borrowed -= bytes;
  };
  (await extents.write(body, { crc64: false, tap })).release();
  assert.ok(peak > 4 * MIB && peak <= 16 * MIB, `${peak} of one`);
  peak = 0;
  const bodies = Array.from({ length: 4 }, () => extents.write(body, { crc64: false, tap }));
  for (const written of await Promise.all(bodies)) written.release();
  assert.ok(peak <= (16 + 4 * 3) * MIB, `${peak} of four`);
});

test("after a restart writing continues behind the last bytes in use", async (t) => {
  const folder = await newFolder(t);
  const before = await openIn(t, folder);
  const [used, lost] = [someBytes(100_000, 1), someBytes(100_000, 2)];
  const at = await place(before, used);
  await place(before, lost);
  await before.close();

  const endOfUse = { extent: at.extent, offset: at.offset + at.bytesOnDisk };
  const after = await openIn(t, folder, endOfUse);
  assert.equal((await stat(fileOf(folder, at.extent))).size, endOfUse.offset);
  const fresh = someBytes(100_000, 3);
  const next = await place(after, fresh);
  assert.deepEqual([next.extent, next.offset], [endOfUse.extent, endOfUse.offset]);
  assert.deepEqual(await gather(after.read(at, 0, at.length)), used);
  assert.deepEqual(await gather(after.read(next, 0, next.length)), fresh);
});

test("after a restart an unused last extent is written from its beginning", async (t) => {
  const folder = await newFolder(t);
  const before = await openIn(t, folder);
  const used = await place(before, someBytes(100_000, 1));
  before.seal(used.extent);
  const unused = await place(before, someBytes(100_000, 2));
  await before.close();

  const after = await openIn(t, folder, { extent: used.extent, offset: used.bytesOnDisk });
  const next = await place(after, someBytes(100_000, 3));
  assert.deepEqual([next.extent, next.offset], [unused.extent, 0]);
});

test("the number of a lost extent that is in use is not given to another one", async (t) => {
  const folder = await newFolder(t);
  const before = await openIn(t, folder);
  const lost = await place(before, someBytes(100_000, 1));
  await before.close();
  await unlink(fileOf(folder, lost.extent));

  const after = await openIn(t, folder, { extent: lost.extent, offset: lost.bytesOnDisk });
  assert.throws(() => after.pin([lost.extent]), { kind: "damaged", message: /is missing/ });
  assert.ok((await place(after, someBytes(100_000, 2))).extent > lost.extent);
});

test("the file of a full extent is reused for the next one, unless it is trimmed first", async (t) => {
  const folder = await newFolder(t);
  const extents = await openIn(t, folder);
  const first = await fill(extents);
  const file = await stat(fileOf(folder, first));
  await extents.remove(first);
  const second = await fill(extents);
  const reused = await stat(fileOf(folder, second));
  assert.deepEqual([reused.ino, reused.size], [file.ino, file.size]);
  await extents.remove(second);
  await extents.trim();
  assert.deepEqual(await readdir(folder), []);
});

test("old bytes in a reused file do not pass as new ones", async (t) => {
  const extents = await openIn(t, await newFolder(t));
  await place(extents, someBytes(30, 1));
  const at = await place(extents, someBytes(150_000, 2));
  await fill(extents);
  await extents.remove(at.extent);
  // A disk that only pretends to write leaves the old bytes.
  const { extent } = await place(extents, someBytes(30, 3));
  const stale = { ...at, extent };
  await assert.rejects(gather(extents.read(stale, 0, stale.length)), { kind: "damaged" });
});

test("a spare file is found and removed after a restart", async (t) => {
  const folder = await newFolder(t);
  const before = await openIn(t, folder);
  const first = await fill(before);
  const at = await place(before, someBytes(50_000, 2));
  await before.remove(first);
  await before.close();

  const after = await openIn(t, folder, { extent: at.extent, offset: at.bytesOnDisk });
  assert.deepEqual(
    after.list().map(({ extent, open }) => [extent, open]),
    [
      [first, false],
      [at.extent, true],
    ],
  );
  await after.remove(first);
  assert.deepEqual(await gather(after.read(at, 0, at.length)), someBytes(50_000, 2));
});

test("no two pieces share a disk sector", async (t) => {
  const extents = await openIn(t, await newFolder(t));
  for (let at = 0; at < 20; at++) {
    assert.equal((await place(extents, someBytes(20_000 + at * 777, at))).offset % 4096, 0);
  }
});

test("a flipped bit is found in the bytes and in their checksum, by every kind of read", async (t) => {
  const folder = await newFolder(t);
  const extents = await openIn(t, folder);
  const checksum = 3 * 65_536 + (200_000 - 3 * 65_532);
  for (const position of [0, 65_531, 65_532, 65_535, 65_536, checksum, checksum + 3]) {
    const at = await place(extents, someBytes(200_000, 1));
    const flip = () => flipBit(fileOf(folder, at.extent), at.offset + position);
    await flip();
    for (let reading = 0; reading < 3; reading++) {
      const read = gather(extents.read(at, 0, at.length));
      await assert.rejects(read, { kind: "damaged", message: /not those written/ }, `${position}`);
      const whole = borrowWhole(extents.read(at, 0, at.length));
      await assert.rejects(whole, { kind: "damaged", message: /not those written/ });
    }
    await flip();
    assert.deepEqual(await gather(extents.read(at, 0, at.length)), someBytes(200_000, 1));
  }
});

test("a flipped bit in a body of one chunk is found by the checksum in its address", async (t) => {
  const folder = await newFolder(t);
  const extents = await openIn(t, folder, null, 64 * 1024 * 1024);
  for (const length of [1, 4_096, 20_000, 65_536]) {
    const bytes = someBytes(length, length);
    for (const crc64 of [true, false]) {
      const written = await extents.write(wholeBody(bytes), { crc64, tap: null });
      const [at] = written.addresses as [Address];
      written.release();
      const read = (asked: Address) => gather(extents.read(asked, 0, length));
      const notWritten = { kind: "damaged", message: /not those written/ };
      for (const position of [0, Math.floor(length / 2), length - 1]) {
        const flip = () => flipBit(fileOf(folder, at.extent), at.offset + position);
        await flip();
        await assert.rejects(read(at), notWritten, `${position} of ${length}`);
        await flip();
        assert.deepEqual(await read(at), bytes);
      }
      await assert.rejects(read({ ...at, checksum: (at.checksum ^ 1) >>> 0 }), notWritten);
    }
  }
});

test("damage in one of several parallel reads is found, and leaks no memory", async (t) => {
  const folder = await newFolder(t);
  const extents = await openIn(t, folder, null, 64 * 1024 * 1024);
  const bytes = someBytes(5_000_000, 1);
  const at = await place(extents, bytes);
  const flip = () => flipBit(fileOf(folder, at.extent), at.offset + 2_500_000);
  await flip();
  for (let reading = 0; reading < 200; reading++) {
    const whole = borrowWhole(extents.read(at, 0, at.length));
    await assert.rejects(whole, { kind: "damaged" });
  }
  await flip();
  // With leaked slabs each read would be a copy, and fewer chunks long.
  const borrowed = await borrowWhole(extents.read(at, 0, at.length));
  assert.equal(borrowed.parts.length, Math.ceil(at.length / 65_532));
  assert.ok(copyAndRelease(borrowed).equals(bytes));
});

test("sound chunks beside a damaged one can be read", async (t) => {
  const folder = await newFolder(t);
  const extents = await openIn(t, folder);
  const bytes = someBytes(200_000, 1);
  const at = await place(extents, bytes);
  await flipBit(fileOf(folder, at.extent), at.offset);
  const sound = await gather(extents.read(at, 65_532, 100_000));
  assert.deepEqual(sound, bytes.subarray(65_532, 165_532));
});

test("a truncated file is found", async (t) => {
  const folder = await newFolder(t);
  const extents = await openIn(t, folder);
  const at = await place(extents, someBytes(200_000, 1));
  await truncate(fileOf(folder, at.extent), 150_000);
  await assert.rejects(gather(extents.read(at, 0, at.length)), { kind: "damaged" });
});

test("bytes that the disk cannot read are reported as damaged", async (t) => {
  const extents = await openIn(t, await newFolder(t));
  const at = await place(extents, someBytes(50_000, 1));
  await failNext(t, "read");
  await assert.rejects(gather(extents.read(at, 0, at.length)), { kind: "damaged" });
  assert.deepEqual(await gather(extents.read(at, 0, at.length)), someBytes(50_000, 1));
});

test("a body in aligned pages is written without a copy, and reads back the same", async (t) => {
  const extents = await openIn(t, await newFolder(t), null, 64 * 1024 * 1024);
  for (const length of [1, 4_092, 4_093, 20_000, 65_532, 65_533, 65_535, 65_536]) {
    const bytes = someBytes(length, length);
    const pages = alignedBytes(128 * 1024);
    pages.fill(bytes, 0, length);
    let asked = 0;
    const body = {
      length,
      drain: () => assert.fail("it is all there"),
      takeWhole: (room = 0) => {
        asked = length + room;
        return pages.subarray(0, asked);
      },
    };
    const shown: Buffer[] = [];
    const tap = (parts: readonly Buffer[]) => void shown.push(...parts);
    for (const crc64 of [true, false]) {
      const written = await extents.write(body, { crc64, tap });
      assert.deepEqual(written.crc64, crc64 ? crc64Of(bytes) : null);
      const [at] = written.addresses as [Address];
      assert.equal(asked, at.bytesOnDisk);
      assert.deepEqual(await gather(extents.read(at, 0, length)), bytes);
      written.release();
    }
    for (const part of shown) assert.equal(part.buffer, pages.buffer);
    assert.equal(Buffer.concat(shown).equals(Buffer.concat([bytes, bytes])), true);
  }
});

test("a body that has arrived, but not on a page, is gathered", async (t) => {
  const extents = await openIn(t, await newFolder(t), null, 64 * 1024 * 1024);
  const bytes = someBytes(20_000, 1);
  for (const memory of [alignedBytes(64 * 1024).subarray(100), Buffer.alloc(64 * 1024)]) {
    memory.fill(bytes, 0, bytes.length);
    const body = {
      length: bytes.length,
      drain: () => assert.fail("it is all there"),
      takeWhole: (room = 0) => memory.subarray(0, bytes.length + room),
    };
    const written = await extents.write(body);
    const [at] = written.addresses as [Address];
    assert.deepEqual(await gather(extents.read(at, 0, bytes.length)), bytes);
    written.release();
  }
});

test("a body that would take several pieces, or several chunks, is gathered", async (t) => {
  const small = await openIn(t, await newFolder(t), null, CONTRACT_EXTENT_BYTES);
  for (const length of [small.pieceBytesMax + 1, 65_537]) {
    const body = { ...wholeBody(someBytes(length, 1)), takeWhole: () => assert.fail("too long") };
    (await small.write(body)).release();
  }
});

test("the first and later reads of a body return the same bytes", async (t) => {
  const extents = await openIn(t, await newFolder(t), null, 64 * 1024 * 1024);
  for (const length of [1, 4_092, 4_093, 65_532, 65_533, 65_536, 65_537, 524_256, 3_000_000]) {
    const bytes = someBytes(length, length);
    const at = await place(extents, bytes);
    for (let reading = 0; reading < 3; reading++) {
      assert.deepEqual(await gather(extents.read(at, 0, length)), bytes);
    }
    const [first, later] = [await place(extents, bytes), at];
    for (const one of [first, later]) {
      assert.deepEqual(copyAndRelease(await borrowWhole(extents.read(one, 0, length))), bytes);
    }
  }
});

test("a reader may stop in the middle", async (t) => {
  const extents = await openIn(t, await newFolder(t), null, 64 * 1024 * 1024);
  const bytes = someBytes(5_000_000, 1);
  const at = await place(extents, bytes);
  await eachBorrowed(extents.read(at, 0, at.length), async ([part]) => {
    assert.deepEqual(part, bytes.subarray(0, part?.length));
    return false;
  });
});

test("borrowed bytes stay unchanged until their release, however many are borrowed", async (t) => {
  const extents = await openIn(t, await newFolder(t), null, 64 * 1024 * 1024);
  const bytes = someBytes(150_000, 1);
  const at = await place(extents, bytes);
  const buffers: BorrowedBuffer[] = [];
  for (let borrowed = 0; borrowed < 200; borrowed++) {
    buffers.push(await borrowWhole(extents.read(at, borrowed, at.length - borrowed)));
  }
  for (const [from, { parts, mayOverwrite }] of buffers.entries()) {
    assert.ok(Buffer.concat(parts).equals(bytes.subarray(from)));
    assert.ok(mayOverwrite);
    for (const part of parts) part.fill(0xdb);
  }
  for (const borrowed of buffers) borrowed.release();
  assert.deepEqual(await gather(extents.read(at, 0, at.length)), bytes);
});

const linuxOnly = { skip: process.platform !== "linux" && "needs the devices of Linux" };

test("a full disk refuses a body, and the next one is tried again", linuxOnly, async (t) => {
  const folder = await newFolder(t);
  const extents = await openIn(t, folder);
  await symlink("/dev/full", fileOf(folder, 1));
  await assert.rejects(place(extents, someBytes(50_000, 1)), {
    kind: "full",
    message: /free some/,
  });
  assert.ok(extents.list().every(({ pinned }) => !pinned));
  extents.seal(1);
  assert.equal((await place(extents, someBytes(50_000, 2))).length, 50_000);
});

/** Many bytes are written in batches and then synced; few are written and synced in one call. */
const MANY_BYTES = 1_000_000;
const FEW_BYTES = 50_000;

for (const { bytes, call } of [
  { bytes: MANY_BYTES, call: "datasync" },
  { bytes: FEW_BYTES, call: SYNC_FLAG === 0 ? "datasync" : "write" },
] as const) {
  test(`the first failed sync stops the server, and no later one succeeds: ${bytes} bytes`, async (t) => {
    const folder = await newFolder(t);
    const failures: StoreError[] = [];
    const extents = await openIn(t, folder, null, MANY_BYTES * 8, failures);
    await failNext(t, call);
    await assert.rejects(place(extents, someBytes(bytes, 1)), { kind: "broken" });
    assert.deepEqual(
      failures.map(({ kind }) => kind),
      ["broken"],
    );
    for (const next of [FEW_BYTES, MANY_BYTES]) {
      await assert.rejects(place(extents, someBytes(next, 2)), { kind: "broken" });
    }
    assert.equal(failures.length, 1);
  });
}

test("on Linux a small body is durable when its write returns", linuxOnly, async (t) => {
  const extents = await openIn(t, await newFolder(t), null, MANY_BYTES * 8);
  const calls = t.mock.method(await fileHandles(), "datasync").mock;
  await place(extents, someBytes(FEW_BYTES, 1));
  assert.equal(calls.callCount(), 0);
  await place(extents, someBytes(MANY_BYTES, 2));
  assert.equal(calls.callCount(), 1);
});

test("a folder that cannot be synced stops the server, too", async (t) => {
  const folder = await newFolder(t);
  const failures: StoreError[] = [];
  const extents = await openIn(t, folder, null, CONTRACT_EXTENT_BYTES, failures);
  await failNext(t, "sync");
  await assert.rejects(place(extents, someBytes(50_000, 1)), { kind: "broken" });
  assert.equal(failures.length, 1);
});

test("a refused write of a large body fails alone", async (t) => {
  const failures: StoreError[] = [];
  const extents = await openIn(t, await newFolder(t), null, MANY_BYTES * 8, failures);
  // Its batches are written as a group, then each of them alone.
  await failNext(t, "write", 2);
  await assert.rejects(place(extents, someBytes(MANY_BYTES, 1)), { kind: "broken" });
  assert.equal((await place(extents, someBytes(MANY_BYTES, 2))).length, MANY_BYTES);
  assert.deepEqual(failures, []);
});

test("reading many extents leaves few files open", linuxOnly, async (t) => {
  const extents = await openIn(t, await newFolder(t), null, 16 * 1024);
  const bodies = Array.from({ length: 500 }, (_, at) => someBytes(4_000, at));
  const addresses = await Promise.all(bodies.map((bytes) => place(extents, bytes)));
  assert.ok(extents.list().length > 100);
  const filesBefore = (await readdir("/proc/self/fd")).length;
  for (const at of addresses) {
    const pin = extents.pin([at.extent]);
    await gather(extents.read(at, 0, at.length));
    pin.release();
  }
  const filesAfter = (await readdir("/proc/self/fd")).length;
  assert.ok(filesAfter <= Math.max(filesBefore, 64) + 16, `${filesBefore} then ${filesAfter}`);
});

async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-extents-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

async function openIn(
  t: TestContext,
  folder: string,
  endOfUse: EndOfUse | null = null,
  extentBytesMax = CONTRACT_EXTENT_BYTES,
  failures: StoreError[] = [],
): Promise<EmbeddedExtents> {
  const failStop = (error: StoreError) => failures.push(error);
  const extents = await EmbeddedExtents.open({
    folder,
    machine: machineFor(t),
    endOfUse,
    failStop,
    extentBytesMax,
  });
  t.after(() => extents.close());
  return extents;
}

async function place(extents: EmbeddedExtents, bytes: Buffer): Promise<Address> {
  const written = await extents.write(wholeBody(bytes));
  written.release();
  return written.addresses[0] as Address;
}

function fileOf(folder: string, extent: number): string {
  return join(folder, `${extent.toString(16).padStart(16, "0")}.extent`);
}

/** Makes the next calls of a method fail, on any file. */
async function failNext(
  t: TestContext,
  method: "datasync" | "sync" | "write" | "read",
  times = 1,
): Promise<void> {
  const error = Object.assign(new Error("input/output error"), { code: "EIO" });
  if (method === "write") {
    let left = times;
    const { writev } = fs;
    t.mock.method(fs, "writev", (...called: Parameters<typeof writev>) => {
      if (left-- > 0) process.nextTick(called.at(-1) as unknown as () => void, error);
      else writev(...called);
    });
    syncBuiltinESMExports();
    t.after(() => {
      t.mock.restoreAll();
      syncBuiltinESMExports();
    });
    return;
  }
  const fail = () => Promise.reject(error);
  t.mock.method(await fileHandles(), method as never, fail as never, { times });
}

async function flipBit(path: string, position: number): Promise<void> {
  const file = await open(path, "r+");
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, position);
  byte[0] = (byte[0] as number) ^ 0x10;
  await file.write(byte, 0, 1, position);
  await file.close();
}
