import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMAND } from "../../src/front/smb/codec/header.ts";
import { HEADER_BYTES, Writer } from "../../src/front/smb/codec/wire.ts";
import type { StoredShares } from "../../src/front/smb/file-host.ts";
import { STATUS } from "../../src/front/smb/nt-status.ts";
import { beginEpoch, clearHandles } from "../../src/service/file/clear-handles.ts";
import { type FileServer, startFileServer } from "../sdk/file-server.ts";
import { refused } from "../sdk/refused.ts";
import { listenSmb } from "./server.ts";
import { SmbFiles } from "./smb-files.ts";
import { contextIn, opening } from "./smb-leases.ts";

const BATCH = 9;
const PERSISTENT = 2;
const GUID = Buffer.alloc(16, 5);
const EXCLUSIVE_NOW = 2 | 16;

/** The SMB half of a server, which restores handles when it starts. */
async function start(rest: FileServer) {
  const { files } = rest.stored[0] as StoredShares;
  const epoch = await beginEpoch(files);
  await clearHandles(files, (_view, one) => one === epoch);
  return await listenSmb(rest, { files, epoch: () => epoch, isShared: false });
}

test("a persistent handle, its locks and its oplock survive a restart of the server", async (t) => {
  const rest = await startFileServer({ alone: true });
  t.after(() => rest.close());
  const share = rest.client().getShareClient("box");
  await share.create();
  const file = share.rootDirectoryClient.getFileClient("file");
  await file.create(10);

  const first = await start(rest);
  const before = await SmbFiles.connect(first.port, "box");
  const wanted = new Writer().u32(0).u32(PERSISTENT).u64(0).bytes(GUID).done();
  const opened = await before.client.call(
    COMMAND.create,
    opening("file", BATCH, [["DH2Q", wanted]]),
  );
  assert.equal(opened.status, 0);
  const answer = contextIn(opened.bytes, "DH2Q") ?? assert.fail("it is not durable");
  assert.equal(opened.bytes.readUInt32LE(answer + 4), PERSISTENT);
  const handle = Buffer.from(opened.bytes.subarray(HEADER_BYTES + 64, HEADER_BYTES + 80));
  assert.equal(await before.lock(handle, 0, 5, EXCLUSIVE_NOW), 0);
  const lost = await before.open("file", { access: 0 });
  await first.drain();

  const second = await start(rest);
  t.after(() => second.drain());
  const after = await SmbFiles.connect(second.port, "box");
  t.after(() => after.close());
  const reconnect = (guid: Buffer) => new Writer().bytes(handle).bytes(guid).u32(PERSISTENT).done();
  const stranger = opening("file", 0, [["DH2C", reconnect(Buffer.alloc(16, 6))]]);
  const refusedReply = await after.client.call(COMMAND.create, stranger);
  assert.equal(refusedReply.status, STATUS.OBJECT_NAME_NOT_FOUND);
  const back = await after.client.call(
    COMMAND.create,
    opening("file", 0, [["DH2C", reconnect(GUID)]]),
  );
  assert.equal(back.status, 0);
  assert.equal(back.bytes.readUInt8(HEADER_BYTES + 2), BATCH);
  assert.equal(await after.write(handle, 0, "fresh"), 0);
  assert.equal(await after.write(lost, 0, "x"), STATUS.FILE_CLOSED);
  assert.equal(await after.end(handle), 0);
  await file.delete();
  await refused(file.getProperties(), 404, "ResourceNotFound");
  assert.deepEqual(rest.failures, []);
});
