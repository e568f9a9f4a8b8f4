import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { COMMAND } from "../../src/front/smb/codec/header.ts";
import { DIALECT } from "../../src/front/smb/codec/negotiate.ts";
import { HEADER_BYTES, Writer } from "../../src/front/smb/codec/wire.ts";
import { EMPTY_BODY, type SmbClient } from "../../src/front/smb/smb-client.fixture.ts";
import { serverUnderTest, USER } from "../../src/front/smb/smb-server.fixture.ts";
import { Random } from "../sim/random.ts";

const SEED = Number(process.env.LAZULI_SEED ?? randomInt(1_000_000));
const FRAMES = Number(process.env.LAZULI_SMB_FRAMES ?? 100_000);
/** Frames on one connection, if the server bears with it for so long. */
const FRAMES_PER_CONNECTION = 200;
const DIALECTS = [DIALECT.smb202, DIALECT.smb210, DIALECT.smb300, DIALECT.smb311];
/** Numbers that offsets, lengths and counts go wrong with. */
const EXTREMES = [0, 1, 7, 63, 64, 65, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff];

const text = (value: string) => Buffer.from(value, "utf16le");

/** The bodies of ordinary requests, by command; what is open there has the id 1. */
function bodies(): [number, Buffer][] {
  const pipe = text("srvsvc");
  const create = new Writer().u16(57).u16(0).u32(2).zeros(16).u32(0x12019f).u32(0).u32(7).u32(1);
  create.u32(0).u16(120).u16(pipe.length).u32(0).u32(0).bytes(pipe);
  const ioctl = (code: number) =>
    new Writer().u16(57).u16(0).u32(code).u64(1).u64(1).u32(120).u32(8).zeros(12).u32(1024).u32(1);
  const lock = new Writer().u16(48).u16(1).u32(0).u64(1).u64(1).u64(0).u64(9).u32(2).u32(0);
  const path = text("\\\\h\\IPC$");
  const query = new Writer().u16(41).u8(1).u8(18).u32(999).zeros(16).u64(1).u64(1);
  const scan = new Writer().u16(33).u8(37).u8(0).u32(0).u64(1).u64(1).u16(96).u16(2).u32(999);
  return [
    [COMMAND.negotiate, new Writer().u16(36).u16(1).zeros(32).u16(0x210).done()],
    [COMMAND.sessionSetup, new Writer().u16(25).zeros(10).u16(88).u16(9).u64(0).zeros(9).done()],
    [COMMAND.treeConnect, new Writer().u16(9).u16(0).u16(72).u16(path.length).bytes(path).done()],
    [COMMAND.create, create.done()],
    [COMMAND.close, new Writer().u16(24).u16(1).u32(0).u64(1).u64(1).done()],
    [COMMAND.flush, new Writer().u16(24).zeros(6).u64(1).u64(1).done()],
    [COMMAND.read, new Writer().u16(49).u16(0).u32(99).u64(0).u64(1).u64(1).zeros(17).done()],
    [COMMAND.write, new Writer().u16(49).u16(112).u32(8).u64(0).u64(1).u64(1).zeros(24).done()],
    [COMMAND.lock, lock.done()],
    [COMMAND.ioctl, ioctl(0x11c017).u32(0).u64(0).done()],
    [COMMAND.ioctl, ioctl(0x140204).u32(0).u64(0).done()],
    [COMMAND.cancel, EMPTY_BODY],
    [COMMAND.echo, EMPTY_BODY],
    [COMMAND.queryDirectory, scan.bytes(text("*")).done()],
    [COMMAND.changeNotify, new Writer().u16(32).u16(1).u32(99).u64(1).u64(1).u32(3).u32(0).done()],
    [COMMAND.queryInfo, query.done()],
    [
      COMMAND.setInfo,
      new Writer().u16(33).u16(0).u32(8).u32(96).u32(0).u64(1).u64(1).u64(1).done(),
    ],
    [COMMAND.oplockBreak, new Writer().u16(24).zeros(6).u64(1).u64(1).done()],
    [COMMAND.treeDisconnect, EMPTY_BODY],
    [COMMAND.logoff, EMPTY_BODY],
  ];
}

/** One to four places changed; most of them behind the header, where more is read. */
function damage(frame: Buffer, random: Random): Buffer {
  for (let left = 1 + random.below(4); left > 0; left--) {
    const inHeader = random.chance(0.15);
    const at = inHeader ? random.below(HEADER_BYTES) : HEADER_BYTES + random.below(64);
    const value = random.pick(EXTREMES);
    if (at >= frame.length) continue;
    if (random.chance(0.4)) frame[at] = random.below(256);
    else if (random.chance(0.5) && at + 2 <= frame.length) frame.writeUInt16LE(value & 0xffff, at);
    else if (at + 4 <= frame.length) frame.writeUInt32LE(value, at);
  }
  return random.chance(0.1) ? frame.subarray(0, random.below(frame.length + 1)) : frame;
}

async function loggedOn(client: SmbClient, random: Random): Promise<SmbClient> {
  await client.negotiate({ dialects: [random.pick(DIALECTS)] });
  await client.logOn(USER);
  await client.treeConnect("IPC$");
  return client;
}

/** Whether the server still answers; it may also have hung up. */
async function answersEcho(client: SmbClient): Promise<boolean> {
  const echo = client.frame(COMMAND.echo, EMPTY_BODY);
  client.line.send(echo);
  for (;;) {
    const frame = await client.line.next();
    if (frame === null) return false;
    if (frame.subarray(24, 32).equals(echo.subarray(24, 32))) return true;
  }
}

test(`${FRAMES} damaged frames: each is answered or hung up on, and nothing breaks`, async (t) => {
  t.diagnostic(`LAZULI_SEED=${SEED}`);
  const random = new Random(SEED);
  const { client, server, failures } = await serverUnderTest();
  const requests = bodies();
  for (let sent = 0; sent < FRAMES; ) {
    const one = await loggedOn(client(), random);
    for (let on = 0; on < FRAMES_PER_CONNECTION && sent < FRAMES; on++) {
      sent++;
      const [command, body] = random.pick(requests);
      const isSealed = one.sealer !== null && random.chance(0.1);
      const message = damage(one.message(command, Buffer.from(body)), random);
      one.line.send(isSealed ? one.seal(message) : message);
      if (!(await answersEcho(one))) break;
    }
    one.line.close();
    assert.deepEqual(failures, [], `LAZULI_SEED=${SEED}`);
  }
  assert.equal(server.sessions.size, 0);
});
