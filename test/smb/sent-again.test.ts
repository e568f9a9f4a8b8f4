import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reply, Sending } from "../../src/front/smb/client/smb-client.ts";
import { COMMAND } from "../../src/front/smb/codec/header.ts";
import { HEADER_BYTES, Writer } from "../../src/front/smb/codec/wire.ts";
import { STATUS } from "../../src/front/smb/nt-status.ts";
import { boxForThisFile } from "./box.ts";
import { SmbFiles, type SmbHandle } from "./smb-files.ts";
import { giveUp, leasedOpening, nextBreak, opening } from "./smb-leases.ts";

const BATCH = 9;
const CREATED = 2;
const EXCLUSIVE_NOW = 2 | 16;
const APP_INSTANCE = Buffer.from("45bca66aefa7f74a9008fa462e144d74", "hex").toString("latin1");

const { smb, files, newFile } = await boxForThisFile();
let guids = 0;

function durable(): readonly [string, Buffer] {
  return ["DH2Q", new Writer().zeros(16).bytes(Buffer.alloc(16, ++guids)).done()];
}

const handleIn = ({ bytes }: Reply): SmbHandle =>
  Buffer.from(bytes.subarray(HEADER_BYTES + 64, HEADER_BYTES + 80));

async function create(body: Buffer, sending: Sending = {}): Promise<Reply> {
  return await files.client.call(COMMAND.create, body, sending);
}

test("a repeated CREATE is answered again, until its handle is used", async () => {
  const body = opening(`again${guids}`, 0, [durable()]);
  const first = await create(body);
  assert.equal(first.status, 0);
  const again = await create(body, { replay: true });
  assert.deepEqual([again.status, handleIn(again)], [0, handleIn(first)]);
  assert.equal(again.bytes.readUInt32LE(HEADER_BYTES + 4), CREATED);
  assert.equal((await create(body)).status, STATUS.DUPLICATE_OBJECTID);
  assert.equal(await files.write(handleIn(first), 0, "x"), 0);
  const other = await create(body, { replay: true });
  assert.equal(other.status, 0);
  assert.notDeepEqual(handleIn(other), handleIn(first));
  for (const reply of [first, other]) assert.equal(await files.end(handleIn(reply)), 0);
});

test("a repeated CREATE must ask for the same caching, or is refused", async () => {
  const name = `kept${guids}`;
  const context = durable();
  const first = await create(opening(name, BATCH, [context]));
  assert.equal(first.status, 0);
  const lease = new Writer().bytes(Buffer.alloc(16, 7)).u32(7).u32(0).u64(0).zeros(20).done();
  const leased = opening(name, 0xff, [context, ["RqLs", lease]]);
  assert.equal((await create(leased, { replay: true })).status, STATUS.ACCESS_DENIED);
  const less = await create(opening(name, 0, [context]), { replay: true });
  assert.deepEqual([less.status, less.bytes.readUInt8(HEADER_BYTES + 2)], [0, 0]);
  assert.equal(await files.end(handleIn(first)), 0);
});

test("a CREATE in progress is not answered twice", async () => {
  const { name } = await newFile();
  const key = Buffer.alloc(16, 9);
  const keeper = await SmbFiles.connect(smb.port, "box", { clientGuid: Buffer.alloc(16, 1) });
  await keeper.client.call(COMMAND.create, leasedOpening(name, key, "RHW"));
  const body = opening(name, 0, [durable()]);
  assert.equal((await create(body)).status, STATUS.PENDING);
  assert.equal((await create(body, { replay: true })).status, STATUS.FILE_NOT_AVAILABLE);
  assert.equal((await nextBreak(keeper.client)).to, "RH");
  assert.equal(await giveUp(keeper.client, key, "RH"), 0);
  assert.equal((await files.client.receive()).status, 0);
  keeper.close();
});

test("a repeated numbered lock is granted once, and a new number is a new lock", async () => {
  const body = opening(`numbered${guids}`, BATCH, [durable()]);
  const handle = handleIn(await create(body));
  const lock = async (place: number, number: number) => {
    const range = new Writer().u64(0).u64(5).u32(EXCLUSIVE_NOW).u32(0).done();
    const sequence = place * 16 + number;
    const asked = new Writer().u16(48).u16(1).u32(sequence).bytes(handle).bytes(range).done();
    return (await files.client.call(COMMAND.lock, asked)).status;
  };
  assert.equal(await lock(1, 3), 0);
  assert.equal(await lock(1, 3), 0);
  assert.equal(await lock(2, 3), STATUS.LOCK_NOT_GRANTED);
  assert.equal(await lock(1, 4), STATUS.LOCK_NOT_GRANTED);
  assert.equal(await lock(1, 3), STATUS.LOCK_NOT_GRANTED);
  assert.equal(await lock(0, 3), STATUS.LOCK_NOT_GRANTED);
  assert.equal(await files.end(handle), 0);
});

test("requests that a client sent before it lost a connection change nothing any more", async () => {
  const { name } = await newFile();
  const handle = await files.open(name, { access: 3 });
  const write = async (channelSequence: number) => {
    const data = new Writer().u16(49).u16(112).u32(1).u64(0).bytes(handle).zeros(16).u8(1).done();
    return (await files.client.call(COMMAND.write, data, { channelSequence })).status;
  };
  assert.equal(await write(5), 0);
  assert.equal(await write(4), STATUS.FILE_NOT_AVAILABLE);
  assert.equal(await write(5), 0);
  assert.equal((await files.read(handle, 0, 1)).length, 1);
  assert.equal(await files.end(handle), 0);
});

test("a program that continues on another machine closes what it left open", async () => {
  const name = `moved${guids}`;
  const instance = new Writer().u16(20).u16(0).bytes(Buffer.alloc(16, 0xaa)).done();
  const openAt = async (client: SmbFiles, more: readonly (readonly [string, Buffer])[]) => {
    const body = opening(name, BATCH, [durable(), ...more]);
    return await client.client.call(COMMAND.create, body);
  };
  const old = await openAt(files, [[APP_INSTANCE, instance]]);
  const guid = { clientGuid: Buffer.alloc(16, 2) };
  const elsewhere = await SmbFiles.connect(smb.port, "box", guid);
  const taken = await openAt(elsewhere, [[APP_INSTANCE, instance]]);
  assert.equal(taken.status, 0);
  assert.equal(await files.end(handleIn(old)), STATUS.FILE_CLOSED);
  const strange = await SmbFiles.connect(smb.port, "box", { clientGuid: Buffer.alloc(16, 3) });
  assert.equal((await openAt(strange, [])).status, STATUS.PENDING);
  const short = opening(name, 0, [durable(), [APP_INSTANCE, Buffer.alloc(8)]]);
  assert.equal((await create(short)).status, STATUS.INVALID_PARAMETER);
  elsewhere.close();
  strange.close();
});
