import assert from "node:assert/strict";
import { test } from "node:test";
import { MIB } from "../../src/base/limits.ts";
import { STATUS } from "../../src/front/smb/nt-status.ts";
import { DELETE, READ, WRITE } from "../../src/rules/share-mode.ts";
import {
  codeOf,
  FILE_OPERATIONS,
  RestOperations,
  SHARE_MODE_TABLE,
  SHARE_NAMES,
  SHARES,
} from "../sdk/file-operations.ts";
import { refused } from "../sdk/refused.ts";
import { boxForThisFile } from "./box.ts";
import { SmbFiles } from "./smb-files.ts";

const EXCLUSIVE_NOW = 2 | 16;
const SHARED_NOW = 1 | 16;
const EXCLUSIVE = 2;
const UNLOCK = 4;
const LEASE_ID = "aaaaaaaa-0000-4000-8000-000000000001";

const { smb, share, files, newFile } = await boxForThisFile();

const rest = new RestOperations(smb.rest, "box");

for (const operation of FILE_OPERATIONS) {
  const row = SHARE_MODE_TABLE[operation];
  test(`${operation} meets handles of all share modes: ${row}`, async () => {
    for (const [column, cell] of row.split(" ").entries()) {
      const { name, file } = await newFile();
      const handle = await files.open(name, { share: SHARES[column] as number });
      const running = rest.run(operation, file);
      if (cell === "1") await refused(running, 409, codeOf(operation, "SharingViolation"));
      else await running.catch((error) => assert.fail(`${SHARE_NAMES[column]}: ${error}`));
      assert.equal(await files.end(handle), 0);
      if (cell === "1") await rest.run(operation, file);
    }
  });
}

test("a sequential SMB reader sees what REST writes meanwhile", async () => {
  const { name, file } = await newFile();
  const parts = ["a", "b", "c", "d", "e", "f"].map((letter) => letter.repeat(MIB));
  await file.uploadData(Buffer.from(parts.join("")));
  const handle = await files.open(name);
  for (const at of parts.keys()) {
    // The next parts may already have been read ahead.
    const behind = at + 1 + (at % 2);
    if (behind < parts.length) {
      const text = `new ${at} `.padEnd(1_000, "!");
      await file.uploadRange(text, behind * MIB + at, text.length);
      const old = parts[behind] as string;
      parts[behind] = old.slice(0, at) + text + old.slice(at + text.length);
    }
    assert.ok((await files.read(handle, at * MIB, MIB)) === parts[at], `part ${at}`);
  }
  assert.equal(await files.end(handle), 0);
});

test("a directory that REST puts in the place of a file is one over SMB, too", async () => {
  const { name } = await newFile();
  const directory = share.getDirectoryClient("taker");
  await directory.create();
  await directory.getFileClient("inner").uploadData(Buffer.from("hello"));
  const terms = {
    "x-ms-file-rename-source": directory.url,
    "x-ms-file-rename-replace-if-exists": "true",
  };
  const move = () => rest.raw(name, "PUT", "restype=directory&comp=rename", terms);
  const file = await files.open(name);
  await refused(move(), 409, "SharingViolation");
  assert.equal(await files.end(file), 0);
  await move();
  const inner = await files.open(`${name}\\inner`);
  assert.equal(await files.read(inner, 0, 5), "hello");
  assert.equal(await files.end(inner), 0);
});

test("a pending delete is 409 for REST, hidden from lists, can be taken back, and is 404 in the end", async () => {
  const { name, file } = await newFile();
  const [one, two] = [await files.open(name, { access: DELETE }), await files.open(name)];
  assert.equal(await files.markDeleted(one, true), 0);
  for (const operation of FILE_OPERATIONS) {
    const running = rest.run(operation, file);
    if (operation === "listHandles") await running;
    else await refused(running, 409, codeOf(operation, "SMBDeletePending"));
  }
  assert.equal((await files.tryOpen(name)).status, STATUS.DELETE_PENDING);
  assert.equal(await files.markDeleted(one, false), 0);
  await file.downloadToBuffer();
  assert.equal(await files.markDeleted(one, true), 0);
  await files.end(one);
  await refused(file.getProperties(), 409, "SMBDeletePending");
  await files.end(two);
  await refused(file.getProperties(), 404, "ResourceNotFound");
});

test("a delete over REST happens or does not: it leaves nothing pending", async () => {
  const { name, file } = await newFile();
  const handle = await files.open(name);
  await refused(file.delete(), 409, "SharingViolation");
  await file.downloadToBuffer();
  await files.end(handle);
  await file.delete();
  await refused(file.getProperties(), 404, "ResourceNotFound");
  assert.equal((await files.tryOpen(name)).status, STATUS.OBJECT_NAME_NOT_FOUND);

  const directory = share.getDirectoryClient("directory");
  await directory.create();
  const open = await files.open("directory");
  await refused(directory.delete(), 409, "CannotDeleteFileOrDirectory");
  await directory.getProperties();
  await files.end(open);
  await directory.delete();
  await refused(directory.getProperties(), 404, "ResourceNotFound");
});

test("delete on close removes the file with the last handle, not before", async () => {
  const { name, file } = await newFile();
  const doomed = await files.open(name, { access: DELETE, deletesOnClose: true });
  const other = await files.open(name);
  await file.getProperties();
  await files.end(doomed);
  await refused(file.getProperties(), 409, "SMBDeletePending");
  await files.end(other);
  await refused(file.getProperties(), 404, "ResourceNotFound");
});

test("a lost connection closes its handles, and ends the conflicts they caused", async () => {
  const { name, file } = await newFile();
  const lost = await SmbFiles.connect(smb.port, "box");
  await lost.open(name, { share: 0 });
  await refused(file.downloadToBuffer(), 409, "SharingViolation");
  lost.close();
  // The server notices in its own time: another client retries until it has.
  while ((await files.tryOpen(name)).status === STATUS.SHARING_VIOLATION);
  await file.downloadToBuffer();
});

test("byte ranges that SMB has locked are 409 for REST where they conflict", async () => {
  const { name, file } = await newFile();
  const handle = await files.open(name, { access: READ | WRITE });
  const read = (from: number) => file.downloadToBuffer(from, 2);
  assert.equal(await files.lock(handle, 2, 4, EXCLUSIVE_NOW), 0);
  await refused(read(4), 409, "FileLockConflict");
  await refused(file.uploadRange("x", 2, 1), 409, "FileLockConflict");
  await read(6);
  await file.uploadRange("x", 0, 1);
  assert.equal(await files.lock(handle, 2, 4, UNLOCK), 0);
  assert.equal(await files.lock(handle, 2, 4, SHARED_NOW), 0);
  await read(4);
  await refused(file.uploadRange("x", 2, 1), 409, "FileLockConflict");
  await files.end(handle);
  await file.uploadRange("x", 2, 1);
});

test("a lock waits until it is granted, or until it is cancelled", async () => {
  const { name } = await newFile();
  const other = await SmbFiles.connect(smb.port, "box");
  const held = await files.open(name, { access: READ | WRITE });
  const wanted = await other.open(name, { access: READ | WRITE });
  assert.equal(await files.lock(held, 0, 5, EXCLUSIVE_NOW), 0);
  assert.equal(await other.lock(wanted, 0, 5, EXCLUSIVE_NOW), STATUS.LOCK_NOT_GRANTED);
  const first = await other.lockWaiting(wanted, 0, 5, EXCLUSIVE);
  assert.equal(await files.lock(held, 0, 5, UNLOCK), 0);
  const granted = await other.client.receive();
  assert.deepEqual([granted.status, granted.asyncId], [0, first.asyncId]);
  assert.equal(await other.lock(wanted, 0, 5, UNLOCK), 0);
  assert.equal(await files.lock(held, 0, 5, EXCLUSIVE_NOW), 0);
  const second = await other.lockWaiting(wanted, 0, 5, EXCLUSIVE);
  const { messageId } = second;
  other.client.line.send(other.client.frame(12, Buffer.from([4, 0, 0, 0]), { messageId }));
  assert.equal((await other.client.receive()).status, STATUS.CANCELLED);
  await other.lockWaiting(wanted, 0, 5, EXCLUSIVE);
  await files.end(held);
  assert.equal((await other.client.receive()).status, 0);
  other.close();
});

test("a waiting lock is granted when REST closes its holder's handle, and never to a closed handle", async () => {
  const { name, file } = await newFile();
  const other = await SmbFiles.connect(smb.port, "box");
  const handleOf = async () => (await file.listHandles().next()).value.handleId as string;
  const held = await files.open(name, { access: READ | WRITE });
  const heldId = await handleOf();
  const wanted = await other.open(name, { access: READ | WRITE });
  assert.equal(await files.lock(held, 0, 5, EXCLUSIVE_NOW), 0);
  await other.lockWaiting(wanted, 0, 5, EXCLUSIVE);
  await file.forceCloseHandle(heldId);
  assert.equal((await other.client.receive()).status, 0);
  const late = await files.open(name, { access: READ | WRITE });
  await files.lockWaiting(late, 0, 5, EXCLUSIVE);
  await file.forceCloseAllHandles();
  assert.equal((await files.client.receive()).status, STATUS.FILE_CLOSED);
  other.close();
});

test("a leased file opens over SMB for reading, but not for writing or deleting", async () => {
  const { name, file } = await newFile();
  const lease = file.getShareLeaseClient(LEASE_ID);
  await lease.acquireLease();
  await files.end(await files.open(name));
  for (const access of [WRITE, DELETE, READ | WRITE]) {
    assert.equal((await files.tryOpen(name, { access })).status, STATUS.SHARING_VIOLATION);
  }
  await lease.releaseLease();
  await files.end(await files.open(name, { access: WRITE }));
});

test("REST lists the handles of SMB clients, and closes them", async () => {
  const { name, file } = await newFile();
  const handle = await files.open(name, { share: 0 });
  const listed = await file.listHandles().next();
  assert.equal(listed.value.sessionId, String(files.client.sessionId));
  const { closedHandlesCount } = await file.forceCloseAllHandles();
  assert.equal(closedHandlesCount, 1);
  assert.equal(await files.read(handle, 0, 1), `status 0x${STATUS.FILE_CLOSED.toString(16)}`);
  await file.downloadToBuffer();
  assert.equal(await files.end(handle), STATUS.FILE_CLOSED);
});

test("each side reads the other's writes, while both are at work", async () => {
  const { name, file } = await newFile();
  const handle = await files.open(name, { access: READ | WRITE });
  for (let round = 0; round < 10; round++) {
    assert.equal(await files.write(handle, 0, `smb ${round}`), 0);
    assert.equal((await file.downloadToBuffer(0, 5)).toString(), `smb ${round}`);
    await file.uploadRange(`rst ${round}`, 0, 5);
    assert.equal(await files.read(handle, 0, 5), `rst ${round}`);
  }
  const { etag } = await file.getProperties();
  await files.write(handle, 0, "x");
  assert.notEqual((await file.getProperties()).etag, etag);
  await files.end(handle);
});

test("an SMB read during a REST write never sees half of it", async () => {
  const { name, file } = await newFile();
  const handle = await files.open(name);
  const writing = (async () => {
    for (let round = 0; round < 40; round++) {
      await file.uploadRange(String(round % 10).repeat(10), 0, 10);
    }
  })();
  for (let round = 0; round < 40; round++) {
    const text = await files.read(handle, 0, 10);
    assert.equal(new Set(text).size, 1, text);
  }
  await writing;
});

test("lists over REST leave out what SMB is about to delete", async () => {
  const { name } = await newFile();
  const listed = async () => {
    const names: string[] = [];
    for await (const one of share.rootDirectoryClient.listFilesAndDirectories())
      names.push(one.name);
    return names;
  };
  const handle = await files.open(name, { access: DELETE });
  assert.ok((await listed()).includes(name));
  await files.markDeleted(handle, true);
  assert.ok(!(await listed()).includes(name));
  await files.markDeleted(handle, false);
  assert.ok((await listed()).includes(name));
  await files.end(handle);
});
