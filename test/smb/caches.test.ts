import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { ShareFileClient, StorageSharedKeyCredential } from "@azure/storage-file-share";
import { COMMAND } from "../../src/front/smb/codec/header.ts";
import { STATUS } from "../../src/front/smb/nt-status.ts";
import { EMPTY_BODY } from "../../src/front/smb/smb-client.fixture.ts";
import { READ } from "../../src/rules/share-mode.ts";
import { refused } from "../sdk/refused.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { boxForThisFile } from "./box.ts";
import { SmbFiles } from "./smb-files.ts";
import { giveUp, leasedBy, leasedOpening, nextBreak, openLeased } from "./smb-leases.ts";

/** Offset in a header of the offset of the next message in a frame. */
const NEXT_AT = 20;

const box = await boxForThisFile();
const { smb, share, files } = box;

async function newFile() {
  return { ...(await box.newFile()), key: randomBytes(16) };
}

type Operation = (file: ShareFileClient) => Promise<unknown>;

/**
 * A REST operation, and for leases RHW, RH and RW: the caching left, `!` if it waits, `-` for no
 * break.
 */
const TABLE: Record<string, readonly [run: Operation, broken: readonly string[]]> = {
  "Get File": [(file) => file.downloadToBuffer(), ["RH!", "-", "R!"]],
  "Get File Properties": [(file) => file.getProperties(), ["RH!", "-", "R!"]],
  "List Ranges": [(file) => file.getRangeList(), ["RH!", "-", "R!"]],
  "List Files": [() => share.rootDirectoryClient.listFilesAndDirectories().next(), ["-", "-", "-"]],
  "Put Range": [(file) => file.uploadRange("x", 0, 1), ["!", "", "!"]],
  "Clear Range": [(file) => file.clearRange(0, 1), ["!", "", "!"]],
  "Set File Properties": [(file) => file.setProperties(), ["!", "", "!"]],
  "Set File Metadata": [(file) => file.setMetadata({ a: "b" }), ["!", "", "!"]],
  "Create File": [(file) => file.create(10), ["!", "", "!"]],
};
const LEASES = ["RHW", "RH", "RW"];

for (const [operation, [run, row]] of Object.entries(TABLE)) {
  test(`${operation} breaks leases as the table says`, async () => {
    for (const [column, cell] of row.entries()) {
      const lease = LEASES[column] as string;
      const { name, file, key } = await newFile();
      const { handle, state } = await openLeased(files.client, name, key, lease);
      assert.equal(state, lease);
      const waits = cell.endsWith("!");
      let isDone = false;
      const done = run(file).then(() => {
        isDone = true;
      });
      if (cell !== "-") {
        const { from, to, mustAnswer } = await nextBreak(files.client);
        assert.deepEqual([from, to, mustAnswer], [lease, cell.replace("!", ""), true], lease);
        assert.equal(waits && isDone, false, "it did not wait");
        if (!waits) await done;
        assert.equal(await giveUp(files.client, key, to), 0);
      }
      await done;
      assert.equal(await files.end(handle), 0);
    }
  });
}

test("Delete File breaks cached handles, and succeeds if they are then closed", async () => {
  for (const lease of ["RHW", "RH"]) {
    const { name, file, key } = await newFile();
    const { handle } = await openLeased(files.client, name, key, lease);
    const deleted = file.delete();
    const { to } = await nextBreak(files.client);
    assert.equal(to, lease.replace("H", ""));
    assert.equal(await files.end(handle), 0);
    await deleted;
    assert.equal(await file.exists(), false);
  }
});

test("Delete File is refused if the handle stays open, and breaks no lease without handle caching", async () => {
  const { name, file, key } = await newFile();
  const { handle } = await openLeased(files.client, name, key, "RH");
  const deleted = refused(file.delete(), 409, "SharingViolation");
  assert.equal((await nextBreak(files.client)).to, "R");
  assert.equal(await giveUp(files.client, key, "R"), 0);
  await deleted;
  await refused(file.delete(), 409, "SharingViolation");
  assert.equal(await files.end(handle), 0);
});

test("a client that does not answer within the timeout of a request makes it 408", async () => {
  const { name, file, key } = await newFile();
  const { handle } = await openLeased(files.client, name, key, "RHW");
  const url = new URL(file.url);
  url.searchParams.set("timeout", "0");
  const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
  const once = { retryOptions: { maxTries: 1 } };
  const impatient = new ShareFileClient(url.toString(), credential, once);
  await refused(impatient.uploadRange("x", 0, 1), 408, "ClientCacheFlushDelay");
  assert.equal((await nextBreak(files.client)).to, "");
  assert.equal(await giveUp(files.client, key, ""), 0);
  await file.uploadRange("x", 0, 1);
  assert.equal(await files.end(handle), 0);
});

test("a REST reader gets the data that an SMB client had cached for writing", async () => {
  const { name, file, key } = await newFile();
  const { handle } = await openLeased(files.client, name, key, "RHW");
  const read = file.downloadToBuffer(0, 5);
  assert.equal((await nextBreak(files.client)).to, "RH");
  assert.equal(await files.write(handle, 0, "fresh"), 0);
  assert.equal(await giveUp(files.client, key, "RH"), 0);
  assert.equal((await read).toString(), "fresh");
  assert.equal(await files.end(handle), 0);
});

test("a break no longer waits for a handle that was force-closed", async () => {
  const { name, file, key } = await newFile();
  await openLeased(files.client, name, key, "RHW");
  const read = file.downloadToBuffer();
  await nextBreak(files.client);
  await file.forceCloseAllHandles();
  await read;
});

test("a second client waits until the first has flushed its cached writes", async () => {
  const { name, key } = await newFile();
  const other = await SmbFiles.connect(smb.port, "box");
  const first = await openLeased(files.client, name, key, "RHW");
  assert.equal(first.oplock, 0xff);
  const pending = await other.client.call(
    COMMAND.create,
    leasedOpening(name, randomBytes(16), "RHW", 7),
  );
  assert.equal(pending.status, STATUS.PENDING);
  const seen = await nextBreak(files.client);
  assert.deepEqual(seen, { from: "RHW", to: "RH", mustAnswer: true, epoch: first.epoch + 1 });
  assert.equal(await giveUp(files.client, key, "RHW"), STATUS.REQUEST_NOT_ACCEPTED);
  assert.equal(await giveUp(files.client, randomBytes(16), "RH"), STATUS.OBJECT_NAME_NOT_FOUND);
  assert.equal(await giveUp(files.client, key, "RH"), 0);
  assert.equal(await giveUp(files.client, key, "RH"), STATUS.UNSUCCESSFUL);
  const second = leasedBy(await other.client.receive());
  assert.deepEqual([second.state, second.epoch], ["RH", 8]);
  other.close();
  assert.equal(await files.end(first.handle), 0);
});

test("in a compound the interim response is sent alone, after the responses before it", async () => {
  const { name, key } = await newFile();
  const other = await SmbFiles.connect(smb.port, "box");
  const { client } = other;
  const first = await openLeased(files.client, name, key, "RHW");
  client.line.send(
    client.compound([
      [COMMAND.echo, EMPTY_BODY],
      [COMMAND.create, leasedOpening(name, randomBytes(16), "RHW", 7)],
      [COMMAND.echo, EMPTY_BODY],
    ]),
  );
  const frame = async () => {
    const bytes = (await client.line.next()) as Buffer;
    return { status: client.read(bytes, false).status, next: bytes.readUInt32LE(NEXT_AT) };
  };
  assert.deepEqual(await frame(), { status: STATUS.SUCCESS, next: 0 });
  assert.deepEqual(await frame(), { status: STATUS.PENDING, next: 0 });
  await nextBreak(files.client);
  assert.equal(await giveUp(files.client, key, "RH"), 0);
  const { status, next } = await frame();
  assert.equal(status, STATUS.SUCCESS);
  assert.notEqual(next, 0, "the rest is together");
  other.close();
  assert.equal(await files.end(first.handle), 0);
});

test("a break no longer waits for a client that is gone", async () => {
  const { name, file, key } = await newFile();
  const other = await SmbFiles.connect(smb.port, "box");
  await openLeased(other.client, name, key, "RHW");
  const read = file.downloadToBuffer();
  await nextBreak(other.client);
  other.close();
  await read;
});

test("an open for attributes breaks nothing, and a waiting open can be cancelled", async () => {
  const { name, key } = await newFile();
  const other = await SmbFiles.connect(smb.port, "box");
  const { handle } = await openLeased(files.client, name, key, "RHW");
  assert.equal(await other.end(await other.open(name, { access: 0 })), 0);
  const pending = await other.tryOpen(name, { access: READ });
  assert.equal(pending.status, STATUS.PENDING);
  assert.equal((await nextBreak(files.client)).to, "RH");
  const { messageId } = pending;
  other.client.line.send(
    other.client.frame(COMMAND.cancel, Buffer.from([4, 0, 0, 0]), { messageId }),
  );
  assert.equal((await other.client.receive()).status, STATUS.CANCELLED);
  other.close();
  assert.equal(await giveUp(files.client, key, "RH"), 0);
  assert.equal(await files.end(handle), 0);
});
