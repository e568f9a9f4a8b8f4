import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { SmbFiles } from "../smb/smb-files.ts";
import { LazuliProcess } from "./process.ts";
import {
  clientsOf,
  copyData,
  type Filled,
  fillData,
  flipInDatabase,
  flipInExtents,
  OBJECTS,
  startOn,
} from "./stored-data.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-"));
const whole = join(scratch, "whole");
let filled: Filled;
after(() => rmSync(scratch, { recursive: true }));

before(async () => {
  const lazuli = startOn(whole);
  filled = await fillData(lazuli);
  lazuli.signal("SIGTERM");
  assert.equal((await lazuli.ended()).code, 0);
});

let copies = 0;

function copied(): string {
  const location = join(scratch, `copy-${++copies}`);
  copyData(whole, location);
  return location;
}

function start(t: TestContext, location: string, ...flags: string[]): LazuliProcess {
  const lazuli = startOn(location, {}, ...flags);
  t.after(() => lazuli.kill());
  return lazuli;
}

async function logOf(lazuli: LazuliProcess): Promise<string> {
  lazuli.signal("SIGTERM");
  const { code, err } = await lazuli.ended();
  assert.equal(code, 0, err);
  return err;
}

async function count(items: AsyncIterable<unknown>): Promise<number> {
  let found = 0;
  for await (const _ of items) found++;
  return found;
}

/** The bytes after the name in a key: its end, and for blobs the stamp. The value follows. */
const BEHIND_TEXT = 1 + 2;
const BEHIND_BLOB = 1 + 8 + 2;

/** Damages the record of one object in each service. */
function damageRecords(location: string): void {
  const ids = filled.messageIds;
  const flips = [
    flipInDatabase(location, "blob-7.", "blob-7.".length + BEHIND_BLOB),
    flipInDatabase(location, "row-7.", "row-7.".length + BEHIND_TEXT),
    flipInDatabase(location, `${ids[0]}\0`, 36 + BEHIND_TEXT),
    flipInDatabase(location, Buffer.from("Paper-7.TXT", "utf16le"), 3),
  ];
  assert.ok(
    flips.every((places) => places > 0),
    `${flips}`,
  );
}

const NAMES = [
  'blob "devstoreaccount1/box/blob-7."',
  'entity "devstoreaccount1/things/part/row-7."',
  'file "devstoreaccount1/papers/',
];

test("a damaged record does not break a list: the rest is listed, and the log names it", async (t) => {
  const location = copied();
  damageRecords(location);
  const lazuli = start(t, location);
  const { box, queue, share, table } = await clientsOf(lazuli);
  assert.equal(await count(box.listBlobsFlat()), OBJECTS);
  assert.equal(await count(table.listEntities()), OBJECTS - 1);
  assert.equal(await count(share.rootDirectoryClient.listFilesAndDirectories()), OBJECTS - 1);
  const peeked = await queue.peekMessages({ numberOfMessages: OBJECTS });
  assert.equal(peeked.peekedMessageItems.length, OBJECTS - 1);
  assert.equal((await queue.peekMessages()).peekedMessageItems[0]?.messageText, "text 1");
  assert.equal((await queue.receiveMessages()).receivedMessageItems[0]?.messageText, "text 1");
  const got = await queue.receiveMessages({ numberOfMessages: 32 });
  assert.equal(got.receivedMessageItems.length, OBJECTS - 2);
  const log = await logOf(lazuli);
  for (const name of [...NAMES, `message "devstoreaccount1/jobs/${filled.messageIds[0]}"`]) {
    assert.ok(log.includes(`damaged: the record of ${name}`), `${name}\n${log}`);
  }
});

test("a damaged container, queue, table or share does not break the list of the others", async (t) => {
  const location = copied();
  const lazuli = start(t, location);
  const before = await clientsOf(lazuli);
  for (const name of ["other-a", "other-b"]) {
    await before.blobs.createContainer(name);
    await before.queues.createQueue(name);
    await before.files.createShare(name);
  }
  assert.equal(await logOf(lazuli), "");
  assert.ok(flipInDatabase(location, "other-a\0", "other-a".length + BEHIND_TEXT) > 0);
  const damaged = start(t, location);
  const { blobs, queues, files } = await clientsOf(damaged);
  assert.equal(await count(blobs.listContainers()), 2);
  assert.equal(await count(queues.listQueues()), 2);
  assert.equal(await count(files.listShares()), 2);
  const log = await logOf(damaged);
  for (const kind of ["container", "queue", "share"]) {
    assert.ok(log.includes(`damaged: the record of ${kind} "devstoreaccount1/other-a"`), log);
  }
});

test("a damaged object gives a 500, and the log names it", async (t) => {
  const location = copied();
  damageRecords(location);
  assert.equal(flipInExtents(location, filled.large.subarray(0, 64), 40), 1);
  const lazuli = start(t, location);
  const { box } = await clientsOf(lazuli);
  const failed = { statusCode: 500, code: "InternalError" };
  await assert.rejects(box.getBlobClient("blob-7.").download(), failed);
  await assert.rejects(box.getBlobClient("large 0").download(), failed);
  assert.equal((await box.getBlobClient("blob-8.").downloadToBuffer()).length, 3_000);
  const log = await logOf(lazuli);
  assert.match(log, /GET \/devstoreaccount1\/box\/large%200\) failed: .*not those written/);
  assert.match(log, /GET \/devstoreaccount1\/box\/blob-7\.\) failed: the record .* is damaged/);
});

test("blobs whose records are damaged can be replaced and deleted, and then all is well", async (t) => {
  const location = copied();
  for (const name of ["blob-7.", "blob-8.", "blob-9."]) {
    assert.ok(flipInDatabase(location, name, name.length + BEHIND_BLOB) > 0);
  }
  const lazuli = start(t, location);
  const { box } = await clientsOf(lazuli);
  await box.getBlockBlobClient("blob-7.").upload("new", 3);
  await box.getBlockBlobClient("blob-8.").uploadData(Buffer.alloc(9_000, "b"), {
    blockSize: 3_000,
    maxSingleShotSize: 1_000,
  });
  await box.deleteBlob("blob-9.");
  assert.equal(String(await box.getBlobClient("blob-7.").downloadToBuffer()), "new");
  assert.equal(await count(box.listBlobsFlat()), OBJECTS);
  const log = await logOf(lazuli);
  for (const name of ["blob-7.", "blob-8.", "blob-9."]) {
    assert.ok(log.includes(`damaged: the record of blob "devstoreaccount1/box/${name}"`), log);
  }
  const { code, out } = await new LazuliProcess(["verify", "--location", location]).ended();
  assert.deepEqual([code, out.slice(0, 11)], [0, "All is well"]);
});

test("a read over SMB that meets damaged bytes is logged with its share and path", async (t) => {
  const location = copied();
  const lazuli = start(t, location);
  const { share } = await clientsOf(lazuli);
  const directory = share.getDirectoryClient("deep");
  await directory.create();
  const bytes = randomBytes(300_000);
  await directory.getFileClient("Long.TXT").create(bytes.length);
  await directory.getFileClient("Long.TXT").uploadRange(bytes, 0, bytes.length);
  assert.equal(await logOf(lazuli), "");
  assert.equal(flipInExtents(location, bytes.subarray(0, 64), 40), 1);

  const damaged = start(t, location);
  const port = Number(await damaged.printed(/^SMB service .*:(\d+)$/m));
  const files = await SmbFiles.connect(port, "papers");
  const handle = await files.open("deep/Long.TXT");
  assert.equal(await files.read(handle, 0, 1_000), "status 0xc00000e5");
  files.close();
  const line = /an SMB request \("devstoreaccount1\/papers\/deep\/Long.TXT"\) failed: .*not those/;
  assert.match(await logOf(damaged), line);
});

test("verify finds nothing in an intact folder, and names the damage in another", async (t) => {
  const well = new LazuliProcess(["verify", "--location", whole]);
  const first = await well.ended();
  assert.equal(first.code, 0, first.err);
  assert.match(first.out, /^All is well: \d+ records, \d+\.\d MiB\.\n$/);

  const location = copied();
  damageRecords(location);
  assert.equal(flipInExtents(location, filled.large.subarray(200_000, 200_064), 5), 1);
  const damaged = new LazuliProcess(["verify", "--location", location]);
  const { code, out, err } = await damaged.ended();
  assert.equal(code, 3, err);
  for (const name of [...NAMES, 'blob "devstoreaccount1/box/large 0"']) {
    assert.ok(out.includes(`damaged: ${name}`), out);
  }
  assert.match(out, /\d+ damaged, of \d+ records, \d+\.\d MiB\.\n$/);
  assert.match(err, /^\d+ %, \d+ records, \d+ MiB(, \d+ \S+\/s, .* left)?\n/);

  const lazuli = start(t, location);
  await lazuli.firstLine();
  const inUse = await new LazuliProcess(["verify", "--location", location]).ended();
  assert.deepEqual([inUse.code, inUse.out], [1, ""]);
  assert.match(inUse.err, /is in use by another Lazuli/);
  const missing = await new LazuliProcess(["verify", "--location", join(scratch, "no")]).ended();
  assert.equal(missing.code, 1);
  assert.match(missing.err, /no is not a data folder/);
});

test("a scrubbing server reports damage that no request has touched", async (t) => {
  const location = copied();
  damageRecords(location);
  assert.equal(flipInExtents(location, filled.large.subarray(200_000, 200_064), 5), 1);
  const lazuli = start(t, location, "--scrub", "1000");
  await lazuli.printed(/^SMB service (.*)$/m);
  await lazuli.printedError(/scrub: \d+ records/);
  const log = await logOf(lazuli);
  for (const name of [...NAMES, 'blob "devstoreaccount1/box/large 0"']) {
    assert.ok(log.includes(name), log);
  }
});
