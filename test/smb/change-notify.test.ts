import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ShareClient } from "@azure/storage-file-share";
import type { Reply } from "../../src/front/smb/client/smb-client.ts";
import { NOTIFY } from "../../src/front/smb/codec/change-notify.ts";
import { COMMAND } from "../../src/front/smb/codec/header.ts";
import { HEADER_BYTES, Writer } from "../../src/front/smb/codec/wire.ts";
import { STATUS } from "../../src/front/smb/nt-status.ts";
import { DELETE, WRITE } from "../../src/rules/share-mode.ts";
import { startSmb, type TestSmb } from "./server.ts";
import { SmbFiles, type SmbHandle } from "./smb-files.ts";

const ALL = 0x1ff;
const NAMES = NOTIFY.fileName | NOTIFY.directoryName;
const EXCLUSIVE = 2;
const EXCLUSIVE_NOW = 2 | 16;
const ACTIONS = ["", "added", "removed", "modified", "old name", "new name"];

let smb: TestSmb;
let share: ShareClient;
/** One client watches and waits; the other one works. */
let watcher: SmbFiles;
let worker: SmbFiles;
let made = 0;

before(async () => {
  // Changes at other front ends are reported later than the answers to those who make them.
  smb = await startSmb({ alone: true });
  share = smb.rest.hostClient().getShareClient("box");
  watcher = await SmbFiles.connect(smb.port, "box");
  worker = await SmbFiles.connect(smb.port, "box");
});

after(async () => {
  watcher.close();
  worker.close();
  await smb.close();
  assert.deepEqual(smb.failures, []);
});

interface Question {
  readonly filter?: number;
  readonly recursive?: boolean;
  readonly bytes?: number;
}

function ask(handle: SmbHandle, { filter = ALL, recursive = false, bytes = 4_096 }: Question = {}) {
  const body = new Writer().u16(32).u16(recursive ? 1 : 0);
  body.u32(bytes).bytes(handle).u32(filter).u32(0);
  return watcher.client.call(COMMAND.changeNotify, body.done());
}

/** Sends a CHANGE_NOTIFY. Resolves once the server has taken it; the answer comes later. */
async function watch(handle: SmbHandle, question: Question = {}): Promise<Reply> {
  const reply = await ask(handle, question);
  assert.equal(reply.status, STATUS.PENDING);
  return reply;
}

/** `added one`, `modified dir\two`, … */
function changesIn({ status, bytes }: Reply): string[] {
  assert.equal(status, STATUS.SUCCESS, `status 0x${status.toString(16)}`);
  const length = bytes.readUInt32LE(HEADER_BYTES + 4);
  const output = bytes.subarray(HEADER_BYTES + 8, HEADER_BYTES + 8 + length);
  const lines: string[] = [];
  for (let at = 0, next = 1; next !== 0; at += next) {
    next = output.readUInt32LE(at);
    const name = output.subarray(at + 12, at + 12 + output.readUInt32LE(at + 8));
    lines.push(`${ACTIONS[output.readUInt32LE(at + 4)]} ${name.toString("utf16le")}`);
  }
  return lines;
}

const next = async () => changesIn(await watcher.client.receive());

async function newDirectory() {
  const name = `dir${made++}`;
  const directory = share.getDirectoryClient(name);
  await directory.create();
  return { name, directory, handle: await watcher.open(name) };
}

test("changes by REST in a directory are reported to its SMB watchers", async () => {
  const { directory, handle } = await newDirectory();
  const file = directory.getFileClient("File");
  const steps: [() => Promise<unknown>, string[]][] = [
    [() => file.create(4), ["added File"]],
    [() => file.uploadRange("abcd", 0, 4), ["modified File"]],
    [() => file.resize(9), ["modified File"]],
    [() => file.setMetadata({ a: "b" }), ["modified File"]],
    [() => directory.createSubdirectory("sub"), ["added sub"]],
    [() => directory.getDirectoryClient("sub").delete(), ["removed sub"]],
    [
      () => file.rename(`${directory.path}/other`),
      ["old name File", "new name other", "modified other"],
    ],
    [() => directory.getFileClient("other").delete(), ["removed other"]],
  ];
  for (const [step, lines] of steps) {
    await watch(handle);
    await step();
    assert.deepEqual(await next(), lines);
  }
});

test("changes by another SMB client are reported, too", async () => {
  const { name, handle } = await newDirectory();
  await watch(handle);
  const file = await worker.open(`${name}/file`, {
    access: WRITE | DELETE,
    disposition: "create",
  });
  assert.deepEqual(await next(), ["added file"]);
  await watch(handle);
  await worker.write(file, 0, "abc");
  assert.deepEqual(await next(), ["modified file"]);
  await worker.markDeleted(file, true);
  await worker.end(file);
  // Changes between two requests are buffered, and reported with the next answer.
  assert.deepEqual(changesIn(await ask(handle)).at(-1), "removed file");
});

test("a recursive watch sees the whole tree, another one the directory alone", async () => {
  const { name, directory, handle } = await newDirectory();
  const tree = await watcher.open(name);
  await directory.createSubdirectory("sub");
  await watch(tree, { recursive: true });
  await watch(handle);
  await directory.getDirectoryClient("sub").createSubdirectory("below");
  assert.deepEqual(await next(), ["added sub\\below"]);
  await directory.getFileClient("near").create(1);
  assert.deepEqual(await next(), ["added near"]);
});

test("an item that moves to another directory is removed here and added there", async () => {
  const from = await newDirectory();
  const to = await newDirectory();
  await from.directory.createSubdirectory("sub");
  await watch(from.handle);
  await watch(to.handle);
  await from.directory.getDirectoryClient("sub").rename(`${to.name}/moved`);
  assert.deepEqual((await Promise.all([next(), next()])).flat().sort(), [
    "added moved",
    "removed sub",
  ]);
});

test("the filter of the first request decides what is reported", async () => {
  const { directory, handle } = await newDirectory();
  await watch(handle, { filter: NOTIFY.directoryName });
  const file = directory.getFileClient("file");
  await file.create(1);
  await file.setMetadata({ a: "b" });
  await directory.createSubdirectory("sub");
  assert.deepEqual(await next(), ["added sub"]);
  await watch(handle, { filter: ALL });
  await file.delete();
  await directory.createSubdirectory("sub2");
  assert.deepEqual(await next(), ["added sub2"]);
});

test("each kind of change has its filter bit", async () => {
  const { directory, handle: whole } = await newDirectory();
  await watcher.end(whole);
  const file = directory.getFileClient("file");
  await file.create(4);
  const touch = (bits: object) => file.setProperties(bits);
  const earlier = new Date("2020-01-01T00:00:00.000Z");
  const steps: [number, () => Promise<unknown>][] = [
    [NOTIFY.attributes, () => touch({ fileAttributes: "Hidden" })],
    [NOTIFY.size, () => file.resize(5)],
    [NOTIFY.lastWrite, () => touch({ lastWriteTime: earlier })],
    [NOTIFY.creation, () => touch({ creationTime: earlier })],
    [NOTIFY.extendedAttributes, () => file.setMetadata({ c: "d" })],
    [NOTIFY.security, () => touch({ filePermission: "O:BAG:BAD:(A;;FA;;;WD)" })],
  ];
  for (const [filter, step] of steps) {
    const handle = await watcher.open(directory.name);
    await watch(handle, { filter });
    await step();
    assert.deepEqual(await next(), ["modified file"], `bit 0x${filter.toString(16)}`);
    await watcher.end(handle);
  }
});

test("equal changes are reported once, and too many as a reason to list again", async () => {
  const { directory, handle } = await newDirectory();
  const file = directory.getFileClient("file");
  await watch(handle, { bytes: 100 });
  await file.create(4);
  assert.deepEqual(await next(), ["added file"]);
  for (let round = 0; round < 20; round++) await file.setMetadata({ round: String(round) });
  assert.deepEqual(changesIn(await ask(handle)), ["modified file"]);
  for (let index = 0; index < 5; index++) await directory.getFileClient(`more${index}`).create(0);
  const overflow = await ask(handle);
  assert.equal(overflow.status, STATUS.NOTIFY_ENUM_DIR);
  assert.equal(overflow.bytes.readUInt32LE(HEADER_BYTES + 4), 0);
  await watch(handle);
  await file.delete();
  assert.deepEqual(await next(), ["removed file"]);
});

test("several requests are answered one after the other", async () => {
  const { directory, handle } = await newDirectory();
  const first = await watch(handle);
  const second = await watch(handle);
  await directory.getFileClient("one").create(0);
  await directory.getFileClient("two").create(0);
  const [one, two] = [await watcher.client.receive(), await watcher.client.receive()];
  assert.deepEqual([changesIn(one), one.asyncId], [["added one"], first.asyncId]);
  assert.deepEqual([changesIn(two), two.asyncId], [["added two"], second.asyncId]);
});

test("a request ends with CANCEL, with the handle, and with the directory", async () => {
  const { name, handle } = await newDirectory();
  const { messageId } = await watch(handle);
  const cancel = new Writer().u16(4).u16(0).done();
  const cancelled = await watcher.client.call(COMMAND.cancel, cancel, { messageId });
  assert.equal(cancelled.status, STATUS.CANCELLED);

  await watch(handle);
  const close = new Writer().u16(24).zeros(6).bytes(handle).done();
  const closed = await watcher.client.call(COMMAND.close, close);
  assert.equal(closed.status, STATUS.NOTIFY_CLEANUP);
  assert.equal((await watcher.client.receive()).status, STATUS.SUCCESS);

  const again = await watcher.open(name);
  await watch(again);
  await worker.end(await worker.open(name, { access: DELETE, deletesOnClose: true }));
  assert.equal((await watcher.client.receive()).status, STATUS.DELETE_PENDING);
  assert.equal((await ask(again)).status, STATUS.DELETE_PENDING);
  await watcher.end(again);
});

test("only listable directories are watched, and answers fit the credit charge", async () => {
  const { name, directory, handle } = await newDirectory();
  await directory.getFileClient("file").create(0);
  const file = await watcher.open(`${name}/file`);
  assert.equal((await ask(file)).status, STATUS.INVALID_PARAMETER);
  const blind = await watcher.open(name, { access: 0 });
  assert.equal((await ask(blind)).status, STATUS.ACCESS_DENIED);
  const huge = await ask(handle, { filter: NAMES, bytes: 2 ** 24 });
  assert.equal(huge.status, STATUS.INVALID_PARAMETER);
});

test("a request ends when REST closes the handle, and later ones are refused", async () => {
  const { directory, handle } = await newDirectory();
  await watch(handle);
  await directory.forceCloseAllHandles();
  assert.equal((await watcher.client.receive()).status, STATUS.NOTIFY_CLEANUP);
  assert.equal((await ask(handle)).status, STATUS.NOTIFY_CLEANUP);
  const other = await newDirectory();
  await other.directory.forceCloseAllHandles();
  assert.equal((await ask(other.handle)).status, STATUS.PENDING);
  assert.equal((await watcher.client.receive()).status, STATUS.FILE_CLOSED);
});

test("waiting requests and locks end when REST deletes the share", async () => {
  const gone = smb.rest.hostClient().getShareClient("gone");
  await gone.create();
  await gone.getDirectoryClient("dir").create();
  await gone.rootDirectoryClient.getFileClient("file").create(10);
  const client = await SmbFiles.connect(smb.port, "gone");
  const other = await SmbFiles.connect(smb.port, "gone");
  const directory = await client.open("dir");
  const body = new Writer().u16(32).u16(0).u32(4_096).bytes(directory).u32(ALL).u32(0).done();
  assert.equal((await client.client.call(COMMAND.changeNotify, body)).status, STATUS.PENDING);
  await other.lock(await other.open("file"), 0, 5, EXCLUSIVE_NOW);
  await client.lockWaiting(await client.open("file"), 0, 5, EXCLUSIVE);
  await gone.delete();
  const ends = [await client.client.receive(), await client.client.receive()];
  assert.deepEqual(
    ends.map(({ status }) => status).sort(),
    [STATUS.NOTIFY_CLEANUP, STATUS.FILE_CLOSED].sort(),
  );
  client.close();
  other.close();
});
