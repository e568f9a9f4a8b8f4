import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ShareClient, ShareFileClient } from "@azure/storage-file-share";
import { DELETE, READ, WRITE } from "../../src/rules/share-mode.ts";
import { type FileServer, startFileServer } from "./file-server.ts";
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
  putRange: (file) => file.uploadRange("x", 0, 1),
  clearRange: (file) => file.clearRange(0, 1),
  createFile: (file) => file.create(10),
  acquireFileLease: (file) => file.getShareLeaseClient(LEASE_ID).acquireLease(),
  listHandles: async (file) => file.listHandles().next(),
};

const SHARES = [0, READ, WRITE, DELETE, READ | WRITE, READ | DELETE, WRITE | DELETE, ALL];
const SHARE_NAMES = ["none", "R", "W", "D", "RW", "RD", "WD", "RWD"];

/** 1 where a handle with this share mode stands in the way. */
const TABLE: Record<string, string> = {
  getFile: "1 0 1 1 0 0 1 0",
  getFileProperties: "0 0 0 0 0 0 0 0",
  putRange: "1 1 0 1 0 1 0 0",
  clearRange: "1 1 0 1 0 1 0 0",
  createFile: "1 1 1 1 1 1 0 0",
  acquireFileLease: "1 1 1 1 1 1 1 0",
  listHandles: "0 0 0 0 0 0 0 0",
};

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
        await refused(running, 409, "SharingViolation");
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
    else await refused(run(file), 409, "SMBDeletePending");
    await handles.close(handle);
    if (operation === "createFile") await run(file);
    else await refused(run(file), 404, "ResourceNotFound");
  });
}

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
