import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bytes } from "../../base/bytes.ts";
import { KIB, MIB } from "../../base/limits.ts";
import { PAGE_BYTES } from "../../machine/aligned-bytes.ts";
import { keyOf } from "../sorted-items.ts";
import { type Cell, Memtable, memtableSlabs, valueIn } from "./memtable.ts";
import { Wal } from "./wal.ts";
import { checkWal, type WalFindings, type WalNote } from "./wal-check.ts";
import type { FoundWalFile, WalFile } from "./wal-file.ts";
import { bytesOfRecord } from "./wal-groups.ts";
import { decodeWalHeader, makeWal, WAL_HEADER_BYTES } from "./wal-header.ts";

const BYTES_ENOUGH = 64 * KIB;
const SECRET = { mark: 0x12345678, seed: 0x9abcdef0 };
const GENERATIONS = [1, 2] as const;
/** The database's note before the first group. */
const FIRST_NOTE: WalNote = { generations: GENERATIONS, sizes: [2 * MIB, 2 * MIB], group: 0 };

/** A WAL file in memory. */
class MemoryWalFile implements WalFile {
  bytes: Bytes = Buffer.alloc(2 * MIB);

  get capacity(): number {
    return this.bytes.length;
  }

  async write(bytes: Bytes, position: number): Promise<void> {
    assert.equal(position % PAGE_BYTES, 0);
    assert.equal(bytes.length % PAGE_BYTES, 0);
    assert.ok(bytes.copy(this.bytes, position) === bytes.length);
  }

  async growTo(): Promise<void> {}

  async close(): Promise<void> {}
}

function cell(name: string, value: string | null): Cell {
  const head = value === null ? null : Buffer.from(value);
  const size = head?.length ?? 0;
  return { name, head, appended: null, spare: 0, size, logged: 0, group: 0, awaited: 0 };
}

function append(wal: Wal, number: number, cells: readonly Cell[]): Promise<void> {
  const bytes = cells.map((each) => bytesOfRecord(keyOf(each.name), valueIn(each)));
  const sum = bytes.reduce((a, b) => a + b, 0);
  assert.ok(wal.fits(sum));
  return wal.append(number, BigInt(number) * 10n, cells, sum);
}

/** A WAL with groups 1 to `count`, each of one record and `pages` pages. */
async function written(count: number, pages = 1) {
  const files = [new MemoryWalFile(), new MemoryWalFile()] as const;
  await makeWal(SECRET, files, GENERATIONS, 1);
  const wal = new Wal(files, SECRET, BYTES_ENOUGH, GENERATIONS);
  const value = "x".repeat((pages - 1) * PAGE_BYTES);
  for (let number = 1; number <= count; number++) {
    await append(wal, number, [cell(`key ${number}`, value)]);
  }
  return { wal, files, found: () => files.map(({ bytes }) => bytes) };
}

function check(through: number, found: readonly Bytes[], note = FIRST_NOTE): WalFindings {
  const files = found.map((bytes, at) => ({ path: `log-${at}`, bytes, problem: null }));
  return checkWal(SECRET, through, note, files);
}

function numbers(through: number, found: readonly Bytes[]): number[] {
  const { losses, groups } = check(through, found);
  assert.deepEqual(losses, []);
  return groups.map(({ number }) => number);
}

test("WALs that are made at the same time each get their own headers", async () => {
  // Like the disk, these files read the memory of a write some time after it was asked for.
  class LateWalFile extends MemoryWalFile {
    override async write(bytes: Bytes, position: number): Promise<void> {
      await new Promise(setImmediate);
      await super.write(bytes, position);
    }
  }
  const wals = [3, 5, 7].map((mark) => ({
    secret: { ...SECRET, mark },
    files: [new LateWalFile(), new LateWalFile()] as const,
  }));
  await Promise.all(wals.map(({ secret, files }) => makeWal(secret, files, GENERATIONS, 1)));
  for (const { secret, files } of wals) {
    assert.deepEqual(
      files.map(({ bytes }) => decodeWalHeader(secret, bytes)?.generation),
      GENERATIONS,
    );
  }
});

test("groups read back as they were written", async () => {
  const { wal, found } = await written(0);
  const names = ["a", "\u00ff\u0000", "k".repeat(3_500)];
  const large = "v".repeat(1_500_000);
  await append(wal, 1, [cell("a", ""), cell("b", null), cell("c", large)]);
  await append(wal, 2, []);
  await append(
    wal,
    3,
    names.map((name) => cell(name, name)),
  );
  const groups = check(0, found()).groups;
  const decoded = groups.map(({ number, lastStamp, records }) => ({
    number,
    lastStamp,
    records: records.map(({ key, value }) => [key.toString("latin1"), value?.toString() ?? null]),
  }));
  assert.deepEqual(decoded, [
    {
      number: 1,
      lastStamp: 10n,
      records: [
        ["a", ""],
        ["b", null],
        ["c", large],
      ],
    },
    { number: 2, lastStamp: 20n, records: [] },
    {
      number: 3,
      lastStamp: 30n,
      records: names.map((name) => [name, Buffer.from(name).toString()]),
    },
  ]);
});

test("of a value that is appended to, a later group has only the new bytes, unless it was replaced", async () => {
  const { wal, found } = await written(0);
  const memtable = new Memtable(memtableSlabs());
  const groups: ((number: number) => Cell | null)[] = [
    (number) => memtable.set("log", Buffer.from("abc"), number, 0),
    (number) => {
      const first = memtable.append("log", Buffer.from("d"), number, 0);
      assert.equal(memtable.append("log", Buffer.from("ef"), number, 0), null);
      return first;
    },
    (number) => memtable.append("log", Buffer.from("g"), number, 0),
    (number) => {
      const first = memtable.set("log", Buffer.from("x"), number, 0);
      memtable.append("log", Buffer.from("yz"), number, 0);
      return first;
    },
  ];
  for (const [at, change] of groups.entries()) {
    const changed = change(at + 1);
    await append(wal, at + 1, changed === null ? [] : [changed]);
  }
  const decoded = check(0, found()).groups.flatMap(({ records }) =>
    records.map(({ value, isAppend }) => [`${value}`, isAppend]),
  );
  assert.deepEqual(decoded, [
    ["abc", false],
    ["def", true],
    ["g", true],
    ["xyz", false],
  ]);
});

test("groups that are in LMDB, and remains of an earlier generation, are left out", async () => {
  const { wal, found } = await written(5);
  assert.deepEqual(numbers(3, found()), [4, 5]);
  wal.switchFiles();
  for (const number of [6, 7, 8]) await append(wal, number, [cell("k", "v")]);
  assert.deepEqual(numbers(3, found()), [4, 5, 6, 7, 8]);
  wal.switchFiles();
  await append(wal, 9, [cell("k", "v")]);
  assert.deepEqual(numbers(5, found()), [6, 7, 8, 9]);
  assert.deepEqual(numbers(8, found()), [9]);
  assert.deepEqual(numbers(9, found()), []);
});

test("a group that a power cut interrupts is left out, wherever it was cut", async () => {
  for (let pages = 1; pages <= 3; pages++) {
    const { files, found } = await written(4, pages);
    const start = WAL_HEADER_BYTES + 3 * pages * PAGE_BYTES;
    for (let cut = 0; cut < pages * PAGE_BYTES; cut += PAGE_BYTES / 8) {
      const whole = Buffer.from(files[0].bytes);
      files[0].bytes.fill(0, start + cut, start + pages * PAGE_BYTES);
      const isWhole = files[0].bytes.equals(whole);
      assert.deepEqual(numbers(0, found()), isWhole ? [1, 2, 3, 4] : [1, 2, 3]);
      files[0].bytes = whole;
    }
  }
});

test("a broken group that others follow means a damaged WAL", async () => {
  const { files, wal, found } = await written(6);
  wal.switchFiles();
  await append(wal, 7, [cell("k", "v")]);
  const whole = Buffer.from(files[0].bytes);
  for (const group of [0, 2, 4, 5]) {
    files[0].bytes.writeUInt8(0xee, WAL_HEADER_BYTES + group * PAGE_BYTES + 40);
    assert.match(check(0, found()).losses.join(), /ends with group \d, but group [67] was written/);
    files[0].bytes = Buffer.from(whole);
  }
  assert.deepEqual(numbers(0, found()), [1, 2, 3, 4, 5, 6, 7]);
});

test("damage to groups that are in LMDB does not matter", async () => {
  const { files, found } = await written(4);
  files[0].bytes.writeUInt8(0xee, WAL_HEADER_BYTES + 40);
  assert.deepEqual(numbers(4, found()), []);
});

test("a client's bytes cannot pass as a group, because it does not know the secret", async () => {
  const guessed = [
    { mark: SECRET.mark, seed: 0 },
    { mark: 0, seed: SECRET.seed },
  ];
  for (const secret of guessed) {
    const { files, wal, found } = await written(2);
    const other = [new MemoryWalFile(), new MemoryWalFile()] as const;
    const forged = new Wal(other, secret, BYTES_ENOUGH, GENERATIONS);
    await append(forged, 3, [cell("key 1", "forged")]);
    const end = WAL_HEADER_BYTES + 2 * PAGE_BYTES;
    const page = [WAL_HEADER_BYTES, WAL_HEADER_BYTES + PAGE_BYTES] as const;
    other[0].bytes.copy(files[0].bytes, end, ...page);
    assert.deepEqual(numbers(0, found()), [1, 2]);
    await wal.close();
  }
});

/** A WAL with six groups in one file and two in the other, and its note. */
async function twoFiles() {
  const { wal, files, found } = await written(6);
  wal.switchFiles();
  for (const number of [7, 8]) await append(wal, number, [cell("k", "v")]);
  return { wal, files, found, note: wal.noteAt(8) };
}

test("a WAL file that is missing, cut, overwritten or older than its note is noticed", async () => {
  const { wal, files, found, note } = await twoFiles();
  const [first, second] = found() as [Bytes, Bytes];
  const older = Buffer.from(first);
  assert.deepEqual(note.generations, [3, 4]);
  assert.deepEqual(check(0, [first, second], note).losses, []);
  assert.match(losses([null, second], note), /log-0 is gone/);
  assert.match(losses([first.subarray(0, MIB), second], note), /log-0 is cut short \(1048576 of/);
  assert.match(losses([Buffer.alloc(0), second], note), /log-0 is cut short \(0 of/);
  assert.match(losses([Buffer.alloc(first.length), second], note), /log-0 does not begin as/);
  assert.match(losses([first, Buffer.alloc(first.length, 1)], note), /log-1 does not begin as/);
  wal.switchFiles();
  await append(wal, 9, [cell("k", "v")]);
  assert.match(
    losses([older, second], wal.noteAt(9)),
    /log-0 is an older copy \(generation 3, 5 is/,
  );
  const begun = Buffer.from(second);
  wal.switchFiles();
  await append(wal, 10, [cell("k", "v")]);
  wal.switchFiles();
  await append(wal, 11, [cell("k", "v")]);
  const both = [files[0].bytes, begun];
  assert.match(losses(both, FIRST_NOTE, 9), /log-1 is an older copy: the files do not belong/);
});

test("an older copy with the same beginning is noticed by the last noted group", async () => {
  const { wal, files, found } = await written(3);
  const older = found().map((bytes) => Buffer.from(bytes));
  for (const number of [4, 5]) await append(wal, number, [cell("k", "v")]);
  assert.deepEqual(check(0, older, wal.noteAt(3)).losses, []);
  assert.match(losses(older, wal.noteAt(5)), /ends with group 3, but group 5 was written/);
  files[0].bytes.fill(0, WAL_HEADER_BYTES + PAGE_BYTES);
  assert.match(losses(found(), wal.noteAt(5)), /ends with group 1, but group 5 was written/);
});

test("a header proves that all groups before it were durable", async () => {
  const { files, found } = await twoFiles();
  files[0].bytes.fill(0, WAL_HEADER_BYTES);
  files[1].bytes.fill(0, WAL_HEADER_BYTES);
  assert.match(losses(found(), FIRST_NOTE), /ends with group 0, but group 6 was written/);
});

test("a damaged last group looks like a torn write, and is reported as one", async () => {
  const { files, found } = await written(3);
  assert.equal(check(0, found()).tornGroup, null);
  files[0].bytes.writeUInt8(0xee, WAL_HEADER_BYTES + 2 * PAGE_BYTES + 40);
  const { losses, groups, tornGroup } = check(0, found());
  assert.deepEqual([losses, groups.length, tornGroup], [[], 2, 3]);
});

test("a power cut within the first write to a file leaves the old header or the new one", async () => {
  const { wal, files, found, note } = await twoFiles();
  const before = Buffer.from(files[0].bytes);
  wal.switchFiles();
  await append(wal, 9, [cell("k", "v")]);
  const after = Buffer.from(files[0].bytes);
  // The database has the first six groups; otherwise the file would not be overwritten.
  after.copy(files[0].bytes, 0, 0, WAL_HEADER_BYTES);
  before.copy(files[0].bytes, WAL_HEADER_BYTES, WAL_HEADER_BYTES);
  assert.deepEqual(check(6, found(), note).losses, []);
  before.copy(files[0].bytes, 0, 0, WAL_HEADER_BYTES);
  after.copy(files[0].bytes, WAL_HEADER_BYTES, WAL_HEADER_BYTES);
  const { losses, groups } = check(6, found(), note);
  assert.deepEqual([losses, groups.map(({ number }) => number)], [[], [7, 8, 9]]);
});

function losses(found: readonly (Bytes | null)[], note: WalNote, through = 0): string {
  const files = found.map((bytes, at): FoundWalFile => {
    return { path: `log-${at}`, bytes, problem: bytes === null ? "is gone" : null };
  });
  return checkWal(SECRET, through, note, files).losses.join("; ");
}
