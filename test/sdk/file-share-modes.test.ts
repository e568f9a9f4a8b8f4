import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ShareClient } from "@azure/storage-file-share";
import { DELETE, READ, WRITE } from "../../src/rules/share-mode.ts";
import { lockRanges } from "../../src/service/file/lock-ranges.ts";
import {
  CREATES,
  codeOf,
  FILE_OPERATIONS,
  RestOperations,
  SHARE_MODE_TABLE,
  SHARE_NAMES,
  SHARES,
} from "./file-operations.ts";
import { type FileServer, startFileServer } from "./file-server.ts";
import { refused } from "./refused.ts";
import { ALL, Handles } from "./smb-handles.ts";

let server: FileServer;
let share: ShareClient;
let handles: Handles;
let rest: RestOperations;
let files = 0;

before(async () => {
  server = await startFileServer();
  share = server.client().getShareClient("share");
  await share.create();
  handles = new Handles(server, "share");
  rest = new RestOperations(server, "share");
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

const LEASE_ID = "aaaaaaaa-0000-4000-8000-000000000001";

for (const operation of FILE_OPERATIONS) {
  SHARE_MODE_TABLE[operation].split(" ").forEach((cell, column) => {
    const verb = cell === "1" ? "gets 409 SharingViolation from" : "passes";
    test(`${operation} ${verb} a handle that shares ${SHARE_NAMES[column]}`, async () => {
      const name = `file${files++}`;
      const file = share.rootDirectoryClient.getFileClient(name);
      await file.create(10);
      const mode = { access: READ, share: SHARES[column] as number };
      const handle = await handles.open(name, mode);
      const running = rest.run(operation, file);
      if (cell === "1") {
        await refused(running, 409, codeOf(operation, "SharingViolation"));
        await handles.close(handle);
        await rest.run(operation, file);
      } else {
        await running;
      }
    });
  });
}

for (const operation of FILE_OPERATIONS) {
  const isOnHandles = operation === "listHandles";
  const verb = isOnHandles ? "still works on" : "gets 409 SMBDeletePending from";
  test(`${operation} ${verb} a file that is delete-pending`, async () => {
    const name = `file${files++}`;
    const file = share.rootDirectoryClient.getFileClient(name);
    await file.create(10);
    const handle = await handles.open(name, { access: READ | DELETE, share: ALL });
    await handles.mark(handle, true);
    if (isOnHandles) await rest.run(operation, file);
    else await refused(rest.run(operation, file), 409, codeOf(operation, "SMBDeletePending"));
    assert.ok(!(await names()).includes(name));
    await handles.mark(handle, false);
    assert.ok((await names()).includes(name));
    await handles.mark(handle, true);
    await handles.close(handle);
    if (CREATES.has(operation)) await rest.run(operation, file);
    else await refused(rest.run(operation, file), 404, codeOf(operation, "ResourceNotFound"));
  });
}

async function names(): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of share.rootDirectoryClient.listFilesAndDirectories())
    found.push(name);
  return found;
}

test("an open directory can be neither deleted nor, unless shared, renamed", async () => {
  const directory = share.getDirectoryClient("held");
  await directory.create();
  const source = { "x-ms-file-rename-source": directory.url };
  const move = () => rest.raw("moved", "PUT", "restype=directory&comp=rename", source);
  const handle = await handles.open("held", { access: READ, share: READ });
  await refused(directory.delete(), 409, "CannotDeleteFileOrDirectory");
  await refused(move(), 409, "SharingViolation");
  await handles.close(handle);
  const sharing = await handles.open("held", { access: READ, share: ALL });
  await move();
  await handles.close(sharing);
  await share.getDirectoryClient("moved").delete();
});

test("a directory does not replace an open file", async () => {
  const directory = share.getDirectoryClient("taker");
  await directory.create();
  const file = await rest.other();
  const terms = {
    "x-ms-file-rename-source": directory.url,
    "x-ms-file-rename-replace-if-exists": "true",
  };
  const move = () => rest.raw(file.name, "PUT", "restype=directory&comp=rename", terms);
  const handle = await handles.open(file.name, { access: READ, share: ALL });
  await refused(move(), 409, "SharingViolation");
  await handles.close(handle);
  await move();
  await share.getDirectoryClient(file.name).delete();
});

test("a delete-pending directory cannot be used, and nothing is created in it", async () => {
  const directory = share.getDirectoryClient("pending");
  await directory.create();
  const handle = await handles.open("pending", { access: DELETE, share: ALL });
  await handles.mark(handle, true);
  const pending = "SMBDeletePending";
  await refused(directory.getFileClient("file").create(1), 409, pending);
  await refused(directory.getDirectoryClient("below").create(), 409, pending);
  await refused(directory.getProperties(), 409, pending);
  await refused(directory.setMetadata({}), 409, pending);
  await refused(directory.delete(), 409, pending);
  await refused(directory.listFilesAndDirectories().next(), 409, pending);
  await refused(rest.rename(await rest.other(), "pending/file", false), 409, pending);
  await refused(directory.create(), 409, pending);
  await handles.close(handle);
  await refused(directory.getProperties(), 404, "ResourceNotFound");
});

test("REST reads and writes of locked bytes are refused", async () => {
  const file = await rest.other();
  const handle = await handles.open(file.name, { access: READ | WRITE, share: ALL });
  const range = { offset: 4n, length: 2n, isExclusive: true };
  assert.equal(await lockRanges(server.context, { ...handle, ranges: [range] }), "granted");
  const conflict = "FileLockConflict";
  await refused(file.uploadRange("x", 4, 1), 409, conflict);
  await refused(file.clearRange(0, 10), 409, conflict);
  await refused(file.download(3, 2), 409, conflict);
  await refused(file.downloadToBuffer(), 409, conflict);
  await refused(file.resize(5), 409, conflict);
  await refused(file.create(10), 409, conflict);
  await refused(file.startCopyFromURL((await rest.other()).url), 409, conflict);
  await refused((await rest.other()).startCopyFromURL(file.url), 409, "CannotVerifyCopySource");
  await file.uploadRange("x", 3, 1);
  await file.uploadRange("x", 6, 1);
  await file.download(0, 4);
  await file.getRangeList();
  await file.resize(6);
  await handles.close(handle);
  await file.uploadRange("x", 4, 1);
});

test("a lease is refused while a handle may write or delete, whatever it shares", async () => {
  for (const access of [0, 1, 2, 3, 4, 5, 6, 7]) {
    const name = `file${files++}`;
    const file = share.rootDirectoryClient.getFileClient(name);
    await file.create(10);
    await handles.open(name, { access, share: ALL });
    const acquiring = file.getShareLeaseClient(LEASE_ID).acquireLease();
    if ((access & (WRITE | DELETE)) === 0) await acquiring;
    else await refused(acquiring, 409, "SharingViolation");
  }
});
