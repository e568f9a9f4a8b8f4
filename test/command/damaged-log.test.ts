import assert from "node:assert/strict";
import {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { BlobServiceClient } from "@azure/storage-blob";
import { CREDENTIAL } from "../sdk/server.ts";
import { LazuliProcess } from "./process.ts";

const OBJECTS = 120;
const PAGE_BYTES = 4_096;
const LOGS = ["log-0", "log-1"] as const;
const scratch = mkdtempSync(join(tmpdir(), "lazuli-"));
/** A data folder with all objects in the log, as `kill -9` has left it. */
const killed = join(scratch, "killed");
/** The log files when there was one object. */
const older = join(scratch, "older");
after(() => rmSync(scratch, { recursive: true }));

function start(t: TestContext | null, location: string, ...flags: string[]): LazuliProcess {
  const ports = ["blob", "queue", "table", "file", "smb"].flatMap((name) => [`--${name}Port`, "0"]);
  const lazuli = new LazuliProcess(["--location", location, ...ports, ...flags]);
  t?.after(() => lazuli.kill());
  return lazuli;
}

async function boxOf(lazuli: LazuliProcess) {
  const once = { retryOptions: { maxTries: 1 } };
  const client = new BlobServiceClient(await lazuli.urlOf("Blob"), CREDENTIAL, once);
  return client.getContainerClient("box");
}

async function objectsIn(lazuli: LazuliProcess): Promise<number> {
  let found = 0;
  for await (const _ of (await boxOf(lazuli)).listBlobsFlat()) found++;
  return found;
}

before(async () => {
  const lazuli = start(null, killed);
  const box = await boxOf(lazuli);
  await box.create();
  await box.getBlockBlobClient("blob 0").upload("x", 1);
  cpSync(join(killed, "store"), older, { recursive: true });
  for (let at = 1; at < OBJECTS; at++) await box.getBlockBlobClient(`blob ${at}`).upload("x", 1);
  await untilNoted(killed, () => box.getBlockBlobClient("last").upload("x", 1));
  await lazuli.kill();
});

/** Runs `write` and waits until the database has been told of it. */
async function untilNoted(location: string, write: () => Promise<unknown>): Promise<void> {
  const database = join(location, "store", "data.mdb");
  // Two notes: the first may have been on its way before the write.
  for (let notes = 0; notes < 2; notes++) {
    const { mtimeMs } = statSync(database);
    await write();
    while (statSync(database).mtimeMs === mtimeMs) await new Promise(setImmediate);
  }
}

let copies = 0;

function copied(): { location: string; log: (name: string) => string } {
  const location = join(scratch, `copy-${++copies}`);
  // Locks are sockets, which cannot be copied.
  const filter = (path: string) => !basename(path).startsWith("lock");
  cpSync(killed, location, { recursive: true, filter });
  return { location, log: (name) => join(location, "store", name) };
}

type Damage = (path: string, name: string) => void;

const DAMAGES: readonly [what: string, told: RegExp, damage: Damage][] = [
  ["deleted", /log-0 is missing; .*log-1 is missing/, (path) => rmSync(path)],
  ["emptied", /log-0 is cut short \(0 of \d+ bytes\)/, (path) => truncateSync(path, 0)],
  ["cut in half", /log-0 is cut short/, (path) => truncateSync(path, statSync(path).size / 2)],
  ["filled with zeros", /log-0 does not begin as a log file of this data folder/, zeroFrom(0)],
  ["zeroed behind their first page", /ends with group/, zeroFrom(PAGE_BYTES)],
  ["zeroed behind ten groups", /ends with group/, zeroFrom(11 * PAGE_BYTES)],
  [
    "replaced by older copies",
    /ends with group \d+, but group \d+ was written/,
    (path, name) => copyFileSync(join(older, name), path),
  ],
  ["damaged in the middle", /ends with group/, (path) => flip(path, 30 * PAGE_BYTES + 100)],
];

function zeroFrom(from: number): Damage {
  return (path) => writeFileSync(path, readFileSync(path).fill(0, from));
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] as number) ^ 1;
  writeFileSync(path, bytes);
}

test("a log that is whole gives back everything, without a word", async (t) => {
  const lazuli = start(t, copied().location);
  assert.equal(await objectsIn(lazuli), OBJECTS + 1);
  lazuli.signal("SIGTERM");
  assert.deepEqual([(await lazuli.ended()).code, (await lazuli.ended()).err], [0, ""]);
});

for (const [what, told, damage] of DAMAGES) {
  test(`log files that were ${what} keep the server from starting, until that is accepted`, async (t) => {
    const { location, log } = copied();
    for (const name of LOGS) damage(log(name), name);
    const before = LOGS.map((name) => sizeOf(log(name)));
    const refused = start(t, location);
    await assert.rejects(refused.firstLine(), "it serves");
    const { code, out, err } = await refused.ended();
    assert.deepEqual([code, out], [1, ""]);
    assert.match(err, told);
    assert.match(err, /has lost acknowledged writes: .* Put the log files back .*--acceptDataLoss/);
    const after = LOGS.map((name) => sizeOf(log(name)));
    assert.deepEqual(after, before, "the log is left as it was");

    const accepted = start(t, location, "--acceptDataLoss");
    const box = await boxOf(accepted);
    await box.createIfNotExists();
    await box.getBlockBlobClient("new").upload("x", 1);
    await accepted.kill();
    assert.match((await accepted.ended()).err, /They are given up, as --acceptDataLoss asks for\./);

    const again = start(t, location);
    assert.ok((await objectsIn(again)) >= 1);
    again.signal("SIGTERM");
    assert.deepEqual([(await again.ended()).code, (await again.ended()).err], [0, ""]);
  });
}

function sizeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null;
}

test("a last group that is not whole is left out like a torn write, and told", async (t) => {
  const { location, log } = copied();
  const path = log("log-0");
  const bytes = readFileSync(path);
  // As if the power had failed while the next group was written: its checksum does not fit.
  const [last, next] = [lastPageWith(bytes, "last"), lastPageWith(bytes, "last") + PAGE_BYTES];
  bytes.copy(bytes, next, last, next);
  const NUMBER_AT = 16;
  bytes.writeBigUInt64LE(bytes.readBigUInt64LE(last + NUMBER_AT) + 1n, next + NUMBER_AT);
  writeFileSync(path, bytes);
  const lazuli = start(t, location);
  const found = await objectsIn(lazuli);
  lazuli.signal("SIGTERM");
  const { code, err } = await lazuli.ended();
  assert.deepEqual([code, found], [0, OBJECTS + 1]);
  assert.match(
    err,
    /last group of the write-ahead log \(number \d+\) is not whole, and is left out/,
  );
});

function lastPageWith(bytes: Buffer, text: string): number {
  const at = bytes.lastIndexOf(text);
  return at - (at % PAGE_BYTES);
}

test("--acceptDataLoss says so where nothing is lost", async (t) => {
  const lazuli = start(t, copied().location, "--acceptDataLoss");
  assert.equal(await objectsIn(lazuli), OBJECTS + 1);
  lazuli.signal("SIGTERM");
  assert.match((await lazuli.ended()).err, /--acceptDataLoss changes nothing/);
});
