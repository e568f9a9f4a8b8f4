import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { ShareClient } from "@azure/storage-file-share";
import { stampOfIso } from "../../src/base/stamp.ts";
import { COMMAND } from "../../src/front/smb/codec/header.ts";
import { CONTROL } from "../../src/front/smb/codec/ioctl.ts";
import { gmtOfStamp } from "../../src/front/smb/codec/snapshots.ts";
import { HEADER_BYTES, Writer } from "../../src/front/smb/codec/wire.ts";
import { STATUS } from "../../src/front/smb/nt-status.ts";
import { DELETE, READ, WRITE } from "../../src/rules/share-mode.ts";
import { startSmb, type TestSmb } from "./server.ts";
import { SmbFiles } from "./smb-files.ts";
import { skipWithoutSmbclient, smbclient } from "./smbclient.ts";

const NEVER = "@GMT-2001.01.01-00.00.00";

let smb: TestSmb;
let share: ShareClient;
let files: SmbFiles;
/** SMB's names of the two snapshots, older first. */
let names: string[];

before(async () => {
  smb = await startSmb();
  share = smb.rest.client().getShareClient("box");
  files = await SmbFiles.connect(smb.port, "box");
  const directory = share.getDirectoryClient("dir");
  await directory.create();
  await write("dir/file", "one");
  await write("dir/gone", "gone");
  const first = await snapshot();
  await write("dir/file", "second");
  await directory.getFileClient("gone").delete();
  const second = await snapshot();
  await write("dir/file", "third");
  names = [first, second];
});

after(async () => {
  files.close();
  await smb.close();
  assert.deepEqual(smb.failures, []);
});

async function write(path: string, text: string): Promise<void> {
  const [directory = "", name = ""] = path.split("/");
  const file = share.getDirectoryClient(directory).getFileClient(name);
  await file.create(text.length);
  await file.uploadRange(text, 0, text.length);
}

/** Takes a snapshot. Their names have whole seconds, so they are a minute apart. */
async function snapshot(): Promise<string> {
  smb.rest.clock.advance(60_000);
  const { snapshot: name = "" } = await share.createSnapshot();
  smb.rest.clock.advance(60_000);
  return gmtOfStamp(stampOfIso(name) as bigint);
}

async function textOf(name: string): Promise<string> {
  const handle = await files.open(name);
  const text = await files.read(handle, 0, 100);
  assert.equal(await files.end(handle), 0);
  return text;
}

test("a snapshot's name anywhere in a path leads to the share at that time", async () => {
  const [first, second] = names;
  assert.equal(await textOf(`${first}/dir/file`), "one");
  assert.equal(await textOf(`dir/${first}/file`), "one");
  assert.equal(await textOf(`dir/file/${second}`), "second");
  assert.equal(await textOf("dir/file"), "third");
  assert.equal(await textOf(`${first}/dir/gone`), "gone");
  const missing = await files.tryOpen(`${second}/dir/gone`);
  assert.equal(missing.status, STATUS.OBJECT_NAME_NOT_FOUND);
  assert.equal((await files.tryOpen(`${NEVER}/dir/file`)).status, STATUS.OBJECT_NAME_NOT_FOUND);
});

test("nothing in a snapshot can be changed", async () => {
  const name = `${names[0]}/dir/file`;
  const denied = async (opening: Parameters<SmbFiles["tryOpen"]>[1]) => {
    assert.equal((await files.tryOpen(name, opening)).status, STATUS.ACCESS_DENIED);
  };
  await denied({ access: WRITE });
  await denied({ access: DELETE });
  await denied({ access: DELETE, deletesOnClose: true });
  await denied({ disposition: "create" });
  const handle = await files.open(name);
  assert.equal(await files.write(handle, 0, "x"), STATUS.ACCESS_DENIED);
  assert.equal(await files.markDeleted(handle, true), STATUS.ACCESS_DENIED);
  assert.equal(await files.lock(handle, 0, 1, 2 | 16), STATUS.ACCESS_DENIED);
  assert.equal(await textOf(name), "one");
  assert.equal(await files.end(handle), 0);
});

test("an open in a snapshot conflicts with nothing", async () => {
  const handle = await files.open(`${names[0]}/dir/file`, { access: READ, share: 0 });
  await write("dir/file", "third");
  for await (const found of share.getDirectoryClient("dir").listHandles()) assert.fail(`${found}`);
  await files.end(handle);
});

test("a handle into a snapshot ends with the snapshot", async () => {
  smb.rest.clock.advance(60_000);
  const { snapshot: name = "" } = await share.createSnapshot();
  const handle = await files.open(`${gmtOfStamp(stampOfIso(name) as bigint)}/dir/file`);
  await share.withSnapshot(name).delete();
  assert.match(await files.read(handle, 0, 10), /0xc0000128/);
});

function askedFor(handle: Buffer, bytesMax: number): Promise<{ status: number; output: Buffer }> {
  const body = new Writer().u16(57).u16(0).u32(CONTROL.enumerateSnapshots).bytes(handle);
  body.zeros(20).u32(bytesMax).u32(1).u32(0);
  return files.client.call(COMMAND.ioctl, body.done()).then(({ status, bytes }) => {
    const at = status === 0 ? bytes.readUInt32LE(HEADER_BYTES + 32) : 0;
    const length = status === 0 ? bytes.readUInt32LE(HEADER_BYTES + 36) : 0;
    return { status, output: bytes.subarray(at, at + length) };
  });
}

test("snapshots are listed newest first, or the buffer size their names need", async () => {
  const handle = await files.open("");
  const { output } = await askedFor(handle, 4_096);
  assert.deepEqual([output.readUInt32LE(0), output.readUInt32LE(4)], [2, 2]);
  const list = output.subarray(12, 12 + output.readUInt32LE(8)).toString("utf16le");
  assert.equal(list, `${names[1]}\0${names[0]}\0\0`);
  const { output: short } = await askedFor(handle, 16);
  assert.deepEqual([short.length, short.readUInt32LE(0), short.readUInt32LE(4)], [16, 2, 0]);
  assert.equal(short.readUInt32LE(8), list.length * 2);
  assert.equal((await askedFor(handle, 15)).status, STATUS.INVALID_PARAMETER);
  await files.end(handle);
});

test("smbclient lists previous versions and gets them", {
  skip: skipWithoutSmbclient,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-smb-"));
  const run = async (command: string) => {
    const { text, code } = await smbclient(smb.port, "//127.0.0.1/box", "-c", command);
    assert.equal(code, 0, text);
    return text;
  };
  const about = await run("allinfo dir\\file");
  for (const name of names) assert.ok(about.includes(name), about);
  assert.match(await run(`ls ${names[0]}\\dir\\*`), /gone/);
  assert.doesNotMatch(await run(`ls ${names[1]}\\dir\\*`), /gone/);
  await run(`get ${names[0]}\\dir\\file ${join(folder, "file")}`);
  assert.equal(await readFile(join(folder, "file"), "utf8"), "one");
  await rm(folder, { recursive: true });
});
