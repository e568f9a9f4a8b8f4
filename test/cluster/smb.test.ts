import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, type TestContext, test } from "node:test";
import { LEASE_MS } from "../../src/cluster/front-end.ts";
import {
  PostgresServer,
  skipWithoutOwnPostgres,
  skipWithoutPostgres,
} from "../../src/engine/postgres/postgres-server.fixture.ts";
import { COMMAND } from "../../src/front/smb/codec/header.ts";
import { HEADER_BYTES, Writer } from "../../src/front/smb/codec/wire.ts";
import { STATUS } from "../../src/front/smb/nt-status.ts";
import { DELETE, READ, WRITE } from "../../src/rules/share-mode.ts";
import { refused } from "../sdk/refused.ts";
import type { SmbFiles, SmbHandle } from "../smb/smb-files.ts";
import { giveUp, nextBreak, opening, openLeased } from "../smb/smb-leases.ts";
import { type Served, ServedFrontEnds } from "./served-front-ends.ts";

const EXCLUSIVE = 2;
const EXCLUSIVE_NOW = 2 | 16;
const UNLOCK = 4;
const ALL_CHANGES = 0x1ff;
const BATCH = 9;
const PERSISTENT = 2;

describe("SMB at several front ends", { skip: skipWithoutPostgres() ?? false }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });
  after(() => server.remove());

  async function bed(t: TestContext) {
    const ends = new ServedFrontEnds(t, server);
    const [one, other] = [await ends.add(), await ends.add()];
    await one.share.create();
    return { ends, one, other };
  }

  async function newFile({ share }: Served, name = "file") {
    const file = share.rootDirectoryClient.getFileClient(name);
    await file.create(10);
    return file;
  }

  const fileAt = ({ share }: Served, name = "file") =>
    share.rootDirectoryClient.getFileClient(name);

  test("an open at one front end refuses opens and REST writes at another", async (t) => {
    const { one, other } = await bed(t);
    await newFile(one);
    const [here, there] = [await one.smb(), await other.smb()];
    const handle = await here.open("file", { access: READ | WRITE, share: 0 });
    assert.equal((await there.tryOpen("file")).status, STATUS.SHARING_VIOLATION);
    await refused(fileAt(other).uploadRange("x", 0, 1), 409, "SharingViolation");
    await refused(fileAt(other).delete(), 409, "SharingViolation");
    assert.equal(await here.end(handle), 0);
    await fileAt(other).uploadRange("x", 0, 1);
  });

  test("delete pending at one front end is delete pending at another", async (t) => {
    const { one, other } = await bed(t);
    await newFile(one);
    const [here, there] = [await one.smb(), await other.smb()];
    const held = await there.open("file");
    const handle = await here.open("file", { access: DELETE });
    assert.equal(await here.markDeleted(handle, true), 0);
    assert.equal(await here.end(handle), 0);
    await refused(fileAt(other).getProperties(), 409, "SMBDeletePending");
    assert.equal(await there.end(held), 0);
    assert.equal(await fileAt(one).exists(), false);
  });

  test("handles of all front ends are listed and closed at any of them", async (t) => {
    const { one, other } = await bed(t);
    await newFile(one);
    const [here, there] = [await one.smb(), await other.smb()];
    const handle = await here.open("file", { access: READ | WRITE, share: 0 });
    const listed: string[] = [];
    for await (const { path } of other.share.rootDirectoryClient.listHandles({ recursive: true })) {
      listed.push(path ?? "");
    }
    assert.deepEqual(listed, ["file"]);
    assert.equal((await fileAt(other).forceCloseAllHandles()).closedHandlesCount, 1);
    assert.equal(await here.write(handle, 0, "x"), STATUS.FILE_CLOSED);
    await there.open("file", { access: READ | WRITE, share: 0 });
  });

  test("a break reaches the client at the front end where it is connected", async (t) => {
    const { one, other } = await bed(t);
    await newFile(one);
    const [here, there] = [await one.smb(), await other.smb()];
    const key = randomBytes(16);
    const { handle, state } = await openLeased(here.client, "file", key, "RHW");
    assert.equal(state, "RHW");
    // A REST read at the other front end waits for the answer, and goes on with it.
    let isDone = false;
    const read = fileAt(other)
      .downloadToBuffer()
      .then(() => {
        isDone = true;
      });
    const seen = await nextBreak(here.client);
    assert.deepEqual([seen.from, seen.to, seen.mustAnswer, isDone], ["RHW", "RH", true, false]);
    assert.equal(await giveUp(here.client, key, "RH"), 0);
    await read;
    // Read caching is taken away without an answer.
    const write = await there.open("file", { access: WRITE });
    assert.equal(await there.write(write, 0, "x"), 0);
    const last = await nextBreak(here.client);
    assert.deepEqual([last.from, last.to], ["RH", ""]);
    assert.equal(await giveUp(here.client, key, ""), 0);
    assert.equal(await here.end(handle), 0);
  });

  test("an oplock is broken at another front end, and a close there is an answer", async (t) => {
    const { one, other } = await bed(t);
    await newFile(one);
    const [here, there] = [await one.smb(), await other.smb()];
    const opened = await here.client.call(COMMAND.create, opening("file", BATCH));
    assert.equal(opened.bytes.readUInt8(HEADER_BYTES + 2), BATCH);
    const handle = Buffer.from(opened.bytes.subarray(HEADER_BYTES + 64, HEADER_BYTES + 80));
    const second = there.tryOpen("file", { access: READ | WRITE });
    const { bytes } = await here.client.receive();
    assert.equal(bytes.readUInt16LE(12), COMMAND.oplockBreak);
    assert.equal(await here.end(handle), 0);
    // The first answer says that the request is pending.
    assert.equal((await second).status, STATUS.PENDING);
    assert.equal((await there.client.receive()).status, 0);
  });

  test("a lock waits for one at another front end", async (t) => {
    const { one, other } = await bed(t);
    await newFile(one);
    const [here, there] = [await one.smb(), await other.smb()];
    const first = await here.open("file", { access: READ | WRITE });
    const second = await there.open("file", { access: READ | WRITE });
    assert.equal(await here.lock(first, 0, 5, EXCLUSIVE_NOW), 0);
    assert.equal(await there.lock(second, 0, 5, EXCLUSIVE_NOW), STATUS.LOCK_NOT_GRANTED);
    await there.lockWaiting(second, 0, 5, EXCLUSIVE);
    assert.equal(await here.lock(first, 0, 5, UNLOCK), 0);
    assert.equal((await there.client.receive()).status, 0);
    assert.match(await here.read(first, 0, 5), /status/);
  });

  async function watch({ client }: SmbFiles, handle: SmbHandle): Promise<void> {
    const body = new Writer().u16(32).u16(1).u32(4_096).bytes(handle).u32(ALL_CHANGES).u32(0);
    const { status } = await client.call(COMMAND.changeNotify, body.done());
    assert.equal(status, STATUS.PENDING);
  }

  /** The names that an answer to CHANGE_NOTIFY has. */
  async function told({ client }: SmbFiles): Promise<string[]> {
    const { status, bytes } = await client.receive();
    assert.equal(status, 0);
    const output = bytes.subarray(HEADER_BYTES + 8);
    const names: string[] = [];
    for (let at = 0, next = 1; next !== 0; at += next) {
      next = output.readUInt32LE(at);
      const name = output.subarray(at + 12, at + 12 + output.readUInt32LE(at + 8));
      names.push(`${output.readUInt32LE(at + 4)} ${name.toString("utf16le")}`);
    }
    return names;
  }

  test("change notify tells of what happens at another front end", async (t) => {
    const { one, other } = await bed(t);
    const here = await one.smb();
    const root = await here.open("");
    await watch(here, root);
    const directory = other.share.getDirectoryClient("dir");
    await directory.create();
    assert.deepEqual(await told(here), ["1 dir"]);
    await watch(here, root);
    await directory.getFileClient("file").create(1);
    assert.deepEqual(await told(here), ["1 dir\\file"]);
    await watch(here, root);
    await directory.getFileClient("file").delete();
    assert.deepEqual(await told(here), ["2 dir\\file"]);
    assert.equal(await here.end(root), 0);
  });

  test("handles and locks of a front end that died end with its lease", async (t) => {
    const { ends, one, other } = await bed(t);
    await newFile(one);
    const [here, there] = [await one.smb(), await other.smb()];
    const dead = await there.open("file", { access: READ | WRITE });
    assert.equal(await there.lock(dead, 0, 5, EXCLUSIVE_NOW), 0);
    const waiting = await here.open("file", { access: READ | WRITE });
    await here.lockWaiting(waiting, 0, 5, EXCLUSIVE);
    other.freeze();
    const granted = here.client.receive();
    let isGranted = false;
    void granted.then(() => {
      isGranted = true;
    });
    await ends.passUntil(async () => {
      await one.share.getProperties();
      return isGranted;
    });
    assert.equal((await granted).status, 0);
    // Its process may only have been stopped: it does nothing with the handle any more.
    await assert.rejects(there.write(dead, 0, "x"), /closed the connection/);
    // It begins anew, as another front end. Opening takes a while, which must not take its lease.
    other.thaw();
    await ends.settleUntil(() =>
      other.share.getProperties().then(
        () => true,
        () => false,
      ),
    );
    assert.deepEqual(other.ends, [], "its process goes on");
    const again = await other.smb();
    const handle = await again.open("file", { access: READ | WRITE });
    assert.equal(await here.lock(waiting, 0, 5, UNLOCK), 0);
    assert.equal(await again.lock(handle, 0, 5, EXCLUSIVE_NOW), 0);
    await refused(fileAt(one).uploadRange("x", 0, 1), 409, "FileLockConflict");
    assert.match(other.lines.join("\n"), /could not renew its lease .* SMB connections are closed/);
    assert.match(other.lines.join("\n"), /the database is opened anew: this front end was out of/);
  });

  test("handles of a front end that stops end with its connections", async (t) => {
    const { one, other } = await bed(t);
    await newFile(one);
    const [here, there] = [await one.smb(), await other.smb()];
    const alone = { access: READ | WRITE, share: 0 };
    await there.open("file", alone);
    assert.equal((await here.tryOpen("file", alone)).status, STATUS.SHARING_VIOLATION);
    await other.stop();
    await here.open("file", alone);
  });

  test("a persistent handle comes back at another front end", async (t) => {
    const { one, other } = await bed(t);
    await newFile(one);
    const [here, there] = [await one.smb(), await other.smb()];
    const guid = randomBytes(16);
    const wanted = new Writer().u32(0).u32(PERSISTENT).u64(0).bytes(guid).done();
    const opened = await here.client.call(
      COMMAND.create,
      opening("file", BATCH, [["DH2Q", wanted]]),
    );
    assert.equal(opened.status, 0);
    const handle = Buffer.from(opened.bytes.subarray(HEADER_BYTES + 64, HEADER_BYTES + 80));
    assert.equal(await here.lock(handle, 0, 5, EXCLUSIVE_NOW), 0);
    const reconnect = (secret: Buffer) =>
      opening("file", 0, [
        ["DH2C", new Writer().bytes(handle).bytes(secret).u32(PERSISTENT).done()],
      ]);
    const stranger = await there.client.call(COMMAND.create, reconnect(randomBytes(16)));
    assert.equal(stranger.status, STATUS.OBJECT_NAME_NOT_FOUND);
    const back = await there.client.call(COMMAND.create, reconnect(guid));
    assert.equal(back.status, 0);
    assert.equal(await there.write(handle, 0, "fresh"), 0);
    // What the client sent the old way comes too late.
    assert.equal(await here.write(handle, 0, "stale"), STATUS.FILE_CLOSED);
    assert.equal(await there.read(handle, 0, 5), "fresh");
    assert.equal(await there.lock(handle, 0, 5, UNLOCK), 0);
    assert.equal(await there.end(handle), 0);
  });

  test("a persistent handle of a front end that died comes back at any other", async (t) => {
    const { ends, one, other } = await bed(t);
    await newFile(one);
    const there = await other.smb();
    const guid = randomBytes(16);
    const wanted = new Writer().u32(0).u32(PERSISTENT).u64(0).bytes(guid).done();
    const opened = await there.client.call(COMMAND.create, opening("file", 0, [["DH2Q", wanted]]));
    const handle = Buffer.from(opened.bytes.subarray(HEADER_BYTES + 64, HEADER_BYTES + 80));
    const plain = await there.open("file");
    assert.notEqual(plain.length, 0);
    other.freeze();
    const handles = async () => {
      let count = 0;
      for await (const _ of one.share.rootDirectoryClient.listHandles({ recursive: true })) count++;
      return count;
    };
    await ends.passUntil(async () => (await handles()) === 1);
    const here = await (await ends.add()).smb();
    const reconnect = new Writer().bytes(handle).bytes(guid).u32(PERSISTENT).done();
    const back = await here.client.call(COMMAND.create, opening("file", 0, [["DH2C", reconnect]]));
    assert.equal(back.status, 0);
    assert.equal(await here.write(handle, 0, "fresh"), 0);
  });

  test("without the database, SMB connections are closed before the lease ends, and handles end", {
    skip: skipWithoutOwnPostgres() ?? false,
  }, async (t) => {
    const own = await PostgresServer.start();
    t.after(() => own.remove());
    const ends = new ServedFrontEnds(t, own);
    const [one, other] = [await ends.add(), await ends.add()];
    await one.share.create();
    await newFile(one);
    const there = await other.smb();
    await there.open("file", { access: READ | WRITE, share: 0 });
    let isClosed = false;
    const closed = assert.rejects(there.client.receive(), /closed the connection/).then(() => {
      isClosed = true;
    });
    await own.kill();
    const sinceMs = ends.clock.now();
    await ends.passUntil(async () => isClosed);
    await closed;
    assert.ok(ends.clock.now() - sinceMs < LEASE_MS, `${ends.clock.now() - sinceMs} ms`);
    await own.resume();
    // The clock stands still until both have found the database again.
    for (const { share } of [one, other]) {
      while (!(await share.exists().catch(() => false)));
    }
    const isFree = () =>
      fileAt(one)
        .uploadRange("x", 0, 1)
        .then(
          () => true,
          () => false,
        );
    await ends.passUntil(isFree);
    const again = await other.smb();
    await again.open("file", { access: READ | WRITE, share: 0 });
    assert.equal(await isFree(), false);
    assert.deepEqual([one.ends, other.ends], [[], []], "nobody has to be restarted");
  });
});
