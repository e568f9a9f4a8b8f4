import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimer } from "../../service/file/manual-timer.fixture.ts";
import { passwordHash } from "./auth/ntlm-keys.ts";
import type { Reply } from "./client/smb-client.ts";
import { COMMAND } from "./codec/header.ts";
import { HEADER_BYTES, Writer } from "./codec/wire.ts";
import { DURABLE_MS } from "./durability.ts";
import { STATUS } from "./nt-status.ts";
import type { SmbClient } from "./smb-client.fixture.ts";
import { type ServerUnderTest, serverUnderTest, USER } from "./smb-server.fixture.ts";

const BATCH = 9;
const GUID = Buffer.alloc(16, 7);
const SHARE_NONE = 0;
const SHARE_ALL = 7;

type Context = readonly [name: string, data: Buffer];

function createBody(contexts: readonly Context[], oplock: number, share: number): Buffer {
  const name = Buffer.from("file", "utf16le");
  const list = new Writer();
  for (const [context, data] of contexts) {
    list.u32(0).u16(16).u16(4).u16(0).u16(24).u32(data.length);
    list.bytes(Buffer.from(context, "latin1")).zeros(4).bytes(data);
  }
  const body = new Writer().u16(57).u8(0).u8(oplock).u32(2).zeros(16).u32(0x12019f).u32(0);
  body.u32(share).u32(3).u32(0).u16(120).u16(name.length);
  body
    .u32(list.length === 0 ? 0 : 128)
    .u32(list.length)
    .bytes(name);
  return body.bytes(list.done()).zeros(1).done();
}

function request(guid = GUID): Context {
  return ["DH2Q", new Writer().u32(0).u32(0).u64(0).bytes(guid).done()];
}

function reconnect(fileId: Buffer, guid = GUID): Context {
  return ["DH2C", new Writer().bytes(fileId).bytes(guid).u32(0).done()];
}

async function connect({ client }: ServerUnderTest, previous = 0): Promise<SmbClient> {
  const made = client();
  await made.negotiate();
  assert.equal((await made.logOn(USER, previous)).status, 0);
  assert.equal((await made.treeConnect("box")).status, 0);
  return made;
}

function create(
  client: SmbClient,
  contexts: readonly Context[],
  oplock = BATCH,
  share = SHARE_NONE,
) {
  return client.call(COMMAND.create, createBody(contexts, oplock, share));
}

function fileIdOf({ bytes }: Reply): Buffer {
  return Buffer.from(bytes.subarray(HEADER_BYTES + 64, HEADER_BYTES + 80));
}

async function write(client: SmbClient, fileId: Buffer): Promise<number> {
  const body = new Writer().u16(49).u16(112).u32(1).u64(0).bytes(fileId).zeros(16);
  return (await client.call(COMMAND.write, body.bytes(Buffer.from("x")).done())).status;
}

async function leftOpen(timer = new ManualTimer()) {
  const under = await serverUnderTest({ timer });
  const first = await connect(under);
  const opened = await create(first, [request()]);
  assert.equal(opened.status, 0);
  return { under, timer, lost: first.sessionId, fileId: fileIdOf(opened) };
}

test("a client that lost its connection gets its open back, once, and no other client does", async () => {
  const { under, lost, fileId } = await leftOpen();
  const again = await connect(under, lost);
  const wrong = await create(again, [reconnect(fileId, Buffer.alloc(16, 8))], 0);
  assert.equal(wrong.status, STATUS.OBJECT_NAME_NOT_FOUND);
  const unknown = await create(again, [reconnect(Buffer.alloc(16, 1))], 0);
  assert.equal(unknown.status, STATUS.OBJECT_NAME_NOT_FOUND);
  const back = await create(again, [reconnect(fileId)], 0);
  assert.equal(back.status, 0);
  assert.deepEqual(fileIdOf(back), fileId);
  assert.equal(back.bytes.readUInt8(HEADER_BYTES + 2), BATCH);
  assert.equal(await write(again, fileId), 0);
  const twice = await create(again, [reconnect(fileId)], 0);
  assert.equal(twice.status, STATUS.OBJECT_NAME_NOT_FOUND);
  assert.deepEqual(under.failures, []);
});

test("an open ends if its client does not return", async () => {
  const { under, timer, lost, fileId } = await leftOpen();
  const again = await connect(under, lost);
  timer.pass(DURABLE_MS - 1);
  assert.notEqual(under.server.hostOf(USER.user).durables.find(fileId.readUInt32LE(0)), null);
  timer.pass(1);
  const late = await create(again, [reconnect(fileId)], 0);
  assert.equal(late.status, STATUS.OBJECT_NAME_NOT_FOUND);
});

test("another client that needs the file gets it: the open of the lost client ends", async () => {
  const { under, lost, fileId } = await leftOpen();
  const other = await connect(under, lost);
  const pending = await create(other, [], 0, SHARE_ALL);
  assert.equal(pending.status, STATUS.PENDING);
  assert.equal((await other.receive()).status, 0);
  const late = await create(other, [reconnect(fileId)], 0);
  assert.equal(late.status, STATUS.OBJECT_NAME_NOT_FOUND);
});

test("an open without handle caching is not durable", async () => {
  const under = await serverUnderTest({ timer: new ManualTimer() });
  const first = await connect(under);
  const fileId = fileIdOf(await create(first, [request()], 8));
  const again = await connect(under, first.sessionId);
  const gone = await create(again, [reconnect(fileId)], 0);
  assert.equal(gone.status, STATUS.OBJECT_NAME_NOT_FOUND);
});

test("contexts that contradict each other are refused", async () => {
  const under = await serverUnderTest();
  const client = await connect(under);
  const bad = await create(client, [["DH2Q", Buffer.alloc(31)]]);
  assert.equal(bad.status, STATUS.INVALID_PARAMETER);
});

test("an open without a connection survives other keys of its account, and ends with the account", async () => {
  const { under, lost, fileId } = await leftOpen();
  const { server } = under;
  const again = await connect(under, lost);
  const waiting = () => server.hostOf(USER.user).durables.find(fileId.readUInt32LE(0));
  const newKey = { name: USER.user, passwordHashes: [passwordHash("bmV3")] };
  server.useAccounts(new Map([[USER.user, newKey]]));
  assert.notEqual(waiting(), null);
  assert.equal((await create(again, [], 0)).status, STATUS.USER_SESSION_DELETED);
  server.useAccounts(new Map());
  assert.equal(waiting(), null);
  assert.deepEqual(under.failures, []);
});
