import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { BlobServiceClient } from "@azure/storage-blob";
import { CREDENTIAL } from "../sdk/server.ts";
import { LOG_DAMAGES, LOG_NAMES, LOG_PAGE_BYTES, untilNoted } from "./log-damages.ts";
import type { LazuliProcess } from "./process.ts";
import { copyData, startOn } from "./stored-data.ts";

const OBJECTS = 120;
const scratch = mkdtempSync(join(tmpdir(), "lazuli-"));
/** A data folder with all objects in the write-ahead log, as `kill -9` left it. */
const killed = join(scratch, "killed");
/** The log files at a time with one object. */
const older = join(scratch, "older");
after(() => rmSync(scratch, { recursive: true }));

function start(t: TestContext | null, location: string, ...flags: string[]): LazuliProcess {
  const lazuli = startOn(location, {}, ...flags);
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

let copies = 0;

function copied(): { location: string; log: (name: string) => string } {
  const location = join(scratch, `copy-${++copies}`);
  copyData(killed, location);
  return { location, log: (name) => join(location, "store", name) };
}

test("an intact write-ahead log is recovered completely, without a message", async (t) => {
  const lazuli = start(t, copied().location);
  assert.equal(await objectsIn(lazuli), OBJECTS + 1);
  lazuli.signal("SIGTERM");
  assert.deepEqual([(await lazuli.ended()).code, (await lazuli.ended()).err], [0, ""]);
});

for (const [what, message, damage] of LOG_DAMAGES) {
  test(`log files that were ${what} keep the server from starting until data loss is accepted`, async (t) => {
    const { location, log } = copied();
    for (const name of LOG_NAMES) damage(log(name), name, older);
    const before = LOG_NAMES.map((name) => sizeOf(log(name)));
    const refused = start(t, location);
    await assert.rejects(refused.firstLine(), "it serves");
    const { code, out, err } = await refused.ended();
    assert.deepEqual([code, out], [1, ""]);
    assert.match(err, message);
    assert.match(err, /has lost acknowledged writes: .* Put the log files back .*--acceptDataLoss/);
    const after = LOG_NAMES.map((name) => sizeOf(log(name)));
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

test("an incomplete last group is dropped like a torn write, and reported", async (t) => {
  const { location, log } = copied();
  const path = log("log-0");
  const bytes = readFileSync(path);
  // As after a power failure while the next group was written: its checksum does not match.
  const [last, next] = [lastPageWith(bytes, "last"), lastPageWith(bytes, "last") + LOG_PAGE_BYTES];
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
  return at - (at % LOG_PAGE_BYTES);
}

test("--acceptDataLoss says so if nothing is lost", async (t) => {
  const lazuli = start(t, copied().location, "--acceptDataLoss");
  assert.equal(await objectsIn(lazuli), OBJECTS + 1);
  lazuli.signal("SIGTERM");
  assert.match((await lazuli.ended()).err, /--acceptDataLoss changes nothing/);
});
