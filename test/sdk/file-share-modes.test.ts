import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { RestError, type ShareClient, type ShareFileClient } from "@azure/storage-file-share";
import { DELETE, READ, WRITE } from "../../src/rules/share-mode.ts";
import { lockRanges } from "../../src/service/file/lock-ranges.ts";
import { type FileServer, startFileServer } from "./file-server.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { ALL, Handles } from "./smb-handles.ts";

let server: FileServer;
let share: ShareClient;
let handles: Handles;
let files = 0;

before(async () => {
  server = await startFileServer();
  share = server.client().getShareClient("share");
  await share.create();
  handles = new Handles(server, "share");
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

const LEASE_ID = "aaaaaaaa-0000-4000-8000-000000000001";

/** Every operation over REST on a file that is there. */
const OPERATIONS: Record<string, (file: ShareFileClient) => Promise<unknown>> = {
  getFile: async (file) => file.downloadToBuffer(),
  getFileProperties: (file) => file.getProperties(),
  getFileMetadata: (file) => raw(file.name, "GET", "comp=metadata"),
  listRanges: (file) => file.getRangeList(),
  putRange: (file) => file.uploadRange("x", 0, 1),
  clearRange: (file) => file.clearRange(0, 1),
  putRangeFromUrl: async (file) => file.uploadRangeFromURL((await other()).url, 0, 0, 1),
  setFileProperties: (file) => file.setHttpHeaders({ fileContentType: "text/x-file" }),
  resizeFile: (file) => file.resize(5),
  setFileMetadata: (file) => file.setMetadata({ a: "b" }),
  createFile: (file) => file.create(10),
  copyFile: async (file) => file.startCopyFromURL((await other()).url),
  copyFromFile: async (file) => (await other()).startCopyFromURL(file.url),
  deleteFile: (file) => file.delete(),
  renameFile: (file) => rename(file, `renamed${files++}`, false),
  replaceFile: async (file) => rename(await other(), file.name, true),
  acquireFileLease: (file) => file.getShareLeaseClient(LEASE_ID).acquireLease(),
  listHandles: async (file) => file.listHandles().next(),
};

async function other(): Promise<ShareFileClient> {
  const file = share.rootDirectoryClient.getFileClient(`other${files++}`);
  await file.create(10);
  return file;
}

async function raw(
  path: string,
  method: string,
  query: string,
  headers: Record<string, string> = {},
): Promise<void> {
  const asked = { method, path: `/share/${path}?${query}`, headers };
  const { status, code } = await rawRequest(server, asked);
  if (status >= 400) throw new RestError(code, { statusCode: status, code });
}

function rename(file: ShareFileClient, path: string, replaces: boolean): Promise<void> {
  return raw(path, "PUT", "comp=rename", {
    "x-ms-file-rename-source": file.url,
    "x-ms-file-rename-replace-if-exists": String(replaces),
  });
}

const SHARES = [0, READ, WRITE, DELETE, READ | WRITE, READ | DELETE, WRITE | DELETE, ALL];
const SHARE_NAMES = ["none", "R", "W", "D", "RW", "RD", "WD", "RWD"];

/** 1 where a handle with this share mode stands in the way. */
const TABLE: Record<string, string> = {
  getFile: "1 0 1 1 0 0 1 0",
  getFileProperties: "0 0 0 0 0 0 0 0",
  getFileMetadata: "0 0 0 0 0 0 0 0",
  listRanges: "1 0 1 1 0 0 1 0",
  putRange: "1 1 0 1 0 1 0 0",
  clearRange: "1 1 0 1 0 1 0 0",
  putRangeFromUrl: "1 1 0 1 0 1 0 0",
  setFileProperties: "1 1 0 1 0 1 0 0",
  resizeFile: "1 1 0 1 0 1 0 0",
  setFileMetadata: "1 1 0 1 0 1 0 0",
  createFile: "1 1 1 1 1 1 0 0",
  copyFile: "1 1 1 1 1 1 0 0",
  copyFromFile: "1 0 1 1 0 0 1 0",
  deleteFile: "1 1 1 1 1 1 1 1",
  renameFile: "1 1 1 0 1 0 0 0",
  replaceFile: "1 1 1 1 1 1 1 1",
  acquireFileLease: "1 1 1 1 1 1 1 0",
  listHandles: "0 0 0 0 0 0 0 0",
};

/** Who copies is told that the source could not be read, and why. */
function codeOf(operation: string, code: string): string {
  return operation === "copyFromFile" ? "CannotVerifyCopySource" : code;
}

test("the table has a line for every operation", () => {
  assert.deepEqual(Object.keys(TABLE), Object.keys(OPERATIONS));
});

for (const [operation, row] of Object.entries(TABLE)) {
  row.split(" ").forEach((cell, column) => {
    const verb = cell === "1" ? "gets 409 SharingViolation from" : "passes";
    test(`${operation} ${verb} a handle that shares ${SHARE_NAMES[column]}`, async () => {
      const name = `file${files++}`;
      const file = share.rootDirectoryClient.getFileClient(name);
      await file.create(10);
      const mode = { access: READ, share: SHARES[column] as number };
      const handle = await handles.open(name, mode);
      const running = (OPERATIONS[operation] as (file: ShareFileClient) => Promise<unknown>)(file);
      if (cell === "1") {
        await refused(running, 409, codeOf(operation, "SharingViolation"));
        await handles.close(handle);
        await (OPERATIONS[operation] as (file: ShareFileClient) => Promise<unknown>)(file);
      } else {
        await running;
      }
    });
  });
}

for (const [operation, run] of Object.entries(OPERATIONS)) {
  const isOnHandles = operation === "listHandles";
  const verb = isOnHandles ? "still works on" : "gets 409 SMBDeletePending from";
  test(`${operation} ${verb} a file that is about to be deleted`, async () => {
    const name = `file${files++}`;
    const file = share.rootDirectoryClient.getFileClient(name);
    await file.create(10);
    const handle = await handles.open(name, { access: READ | DELETE, share: ALL });
    await handles.mark(handle, true);
    if (isOnHandles) await run(file);
    else await refused(run(file), 409, codeOf(operation, "SMBDeletePending"));
    assert.ok(!(await names()).includes(name));
    await handles.mark(handle, false);
    assert.ok((await names()).includes(name));
    await handles.mark(handle, true);
    await handles.close(handle);
    if (CREATES.has(operation)) await run(file);
    else await refused(run(file), 404, codeOf(operation, "ResourceNotFound"));
  });
}

/** What needs no file to be there. */
const CREATES = new Set(["createFile", "copyFile", "replaceFile"]);

async function names(): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of share.rootDirectoryClient.listFilesAndDirectories())
    found.push(name);
  return found;
}

test("a directory that is open is neither deleted nor, unless that is shared, renamed", async () => {
  const directory = share.getDirectoryClient("held");
  await directory.create();
  const source = { "x-ms-file-rename-source": directory.url };
  const move = () => raw("moved", "PUT", "restype=directory&comp=rename", source);
  const handle = await handles.open("held", { access: READ, share: READ });
  await refused(directory.delete(), 409, "CannotDeleteFileOrDirectory");
  await refused(move(), 409, "SharingViolation");
  await handles.close(handle);
  const sharing = await handles.open("held", { access: READ, share: ALL });
  await move();
  await handles.close(sharing);
  await share.getDirectoryClient("moved").delete();
});

test("nothing goes into a directory that is about to be deleted, nor is it used otherwise", async () => {
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
  await refused(rename(await other(), "pending/file", false), 409, pending);
  await refused(directory.create(), 409, pending);
  await handles.close(handle);
  await refused(directory.getProperties(), 404, "ResourceNotFound");
});

test("REST stops at locked bytes, wherever it reads or writes them", async () => {
  const file = await other();
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
  await refused(file.startCopyFromURL((await other()).url), 409, conflict);
  await refused((await other()).startCopyFromURL(file.url), 409, "CannotVerifyCopySource");
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
