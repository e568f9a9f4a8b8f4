import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { BlobServiceClient } from "@azure/storage-blob";
import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { CREDENTIAL } from "../sdk/server.ts";
import { LazuliProcess } from "./process.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-"));
const whole = join(scratch, "whole");
const PAGE_BYTES = 8_192;
const BLOBS = 60;
after(() => rmSync(scratch, { recursive: true }));

function start(t: TestContext | null, location: string): LazuliProcess {
  const lazuli = new LazuliProcess(["--location", location, ...ANY_PORTS]);
  t?.after(() => lazuli.kill());
  return lazuli;
}

async function boxOf(lazuli: LazuliProcess) {
  const once = { retryOptions: { maxTries: 1 } };
  const client = new BlobServiceClient(await lazuli.urlOf("Blob"), CREDENTIAL, once);
  return client.getContainerClient("box");
}

async function stop(lazuli: LazuliProcess): Promise<void> {
  lazuli.signal("SIGTERM");
  assert.equal((await lazuli.ended()).code, 0);
}

before(async () => {
  const lazuli = start(null, whole);
  const box = await boxOf(lazuli);
  await box.create();
  // Small enough to be stored in the database, except the last one.
  for (let at = 0; at < BLOBS; at++) {
    await box.getBlockBlobClient(`blob ${at}`).upload(randomBytes(3_000), 3_000);
  }
  await box.getBlockBlobClient("large").upload(randomBytes(300_000), 300_000);
  await stop(lazuli);
});

let copies = 0;

/** Copies the data folder; returns it and its database. */
function copied(): { location: string; database: string } {
  const location = join(scratch, `copy-${++copies}`);
  cpSync(whole, location, { recursive: true });
  return { location, database: join(location, "store", "data.mdb") };
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  const all = readFileSync(path);
  bytes.copy(all, at);
  writeFileSync(path, all);
}

const DAMAGES: readonly [what: string, message: string, damage: (database: string) => void][] = [
  ["is missing", "is missing", (path) => rmSync(path)],
  ["is empty", "is empty", (path) => truncateSync(path, 0)],
  ["is cut to 64 KiB", "is cut short", (path) => truncateSync(path, 65_536)],
  ["is cut within its first page", "is damaged", (path) => truncateSync(path, 100)],
  ["is cut behind its first page", "is damaged", (path) => truncateSync(path, PAGE_BYTES)],
  ["begins with garbage", "is damaged", (path) => overwrite(path, 0, randomBytes(2 * PAGE_BYTES))],
  [
    "has garbage in its second page",
    "is damaged",
    (path) => overwrite(path, PAGE_BYTES, randomBytes(PAGE_BYTES)),
  ],
  [
    "has lost what its first pages refer to",
    "is damaged",
    (path) => overwrite(path, 2 * PAGE_BYTES, Buffer.alloc(statSync(path).size - 2 * PAGE_BYTES)),
  ],
];

for (const [what, message, damage] of DAMAGES) {
  test(`data whose database ${what} are refused with what to do, and not changed`, async (t) => {
    const { location, database } = copied();
    damage(database);
    const extents = readdirSync(join(location, "extents"));
    const lazuli = start(t, location);
    await assert.rejects(lazuli.firstLine(), "it serves");
    const { code, out, err } = await lazuli.ended();
    assert.deepEqual([code, out], [1, ""]);
    const advice = "restore the data folder from a backup, or choose another one with --location";
    // lmdb itself may have printed a line before.
    const last = err.trimEnd().split("\n").at(-1) as string;
    assert.ok(last.includes(`${database} ${message}`), err);
    assert.ok(last.endsWith(`: ${advice}.`), err);
    assert.deepEqual(readdirSync(join(location, "extents")), extents);
  });
}

test("a flipped bit in a blob's name gives a logged 500, and lists skip the blob", async (t) => {
  const { location, database } = copied();
  const bytes = readFileSync(database);
  const name = Buffer.from("blob 30");
  for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + 1)) {
    bytes[at] = 0x60;
  }
  writeFileSync(database, bytes);
  const lazuli = start(t, location);
  const box = await boxOf(lazuli);
  const failed = { statusCode: 500, code: "InternalError" };
  await assert.rejects(box.getBlobClient("blob 30").download(), failed);
  let listed = 0;
  for await (const _ of box.listBlobsFlat()) listed++;
  assert.equal(listed, BLOBS);
  assert.equal((await box.getBlobClient("blob 20").downloadToBuffer()).length, 3_000);
  await assert.rejects(box.getBlobClient("blob 99").download(), { statusCode: 404 });
  lazuli.signal("SIGTERM");
  const { code, err } = await lazuli.ended();
  assert.equal(code, 0);
  assert.match(err, /blob%2030\) failed: the record [0-9a-f]+ is damaged on disk/);
  assert.match(err, /damaged: the record of blob "devstoreaccount1\/box\/`lob 30"/);
});

test("a database without its last pages, which may be free, is read as far as possible", async (t) => {
  const { location, database } = copied();
  const bytes = statSync(database).size;
  overwrite(database, 0, claimingPages(database, 50));
  const lazuli = start(t, location);
  const box = await boxOf(lazuli);
  assert.equal((await box.getBlobClient("blob 0").downloadToBuffer()).length, 3_000);
  await stop(lazuli);
  assert.ok(statSync(database).size >= bytes + 50 * PAGE_BYTES);
});

/** Returns the first pages of a database that claims this many more pages than it has. */
function claimingPages(database: string, more: number): Buffer {
  const first = readFileSync(database).subarray(0, 2 * PAGE_BYTES);
  const LAST_PAGE_AT = 144;
  for (const at of [LAST_PAGE_AT, PAGE_BYTES + LAST_PAGE_AT]) {
    first.writeBigUInt64LE(first.readBigUInt64LE(at) + BigInt(more), at);
  }
  return first;
}

test("a first start that was killed before it created a database does not block the next", async (t) => {
  for (const begun of [Buffer.alloc(0), Buffer.alloc(100), Buffer.alloc(2 * PAGE_BYTES), null]) {
    const { location, database } = copied();
    for (const name of readdirSync(join(location, "store"))) rmSync(join(location, "store", name));
    for (const name of readdirSync(join(location, "extents")))
      rmSync(join(location, "extents", name));
    if (begun !== null) writeFileSync(database, begun);
    const lazuli = start(t, location);
    await (await boxOf(lazuli)).create();
    await stop(lazuli);
  }
});
