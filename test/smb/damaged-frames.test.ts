import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { key, keyAfter, SPACE } from "../../src/base/keys.ts";
import { COMMAND } from "../../src/front/smb/codec/header.ts";
import { DIALECT } from "../../src/front/smb/codec/negotiate.ts";
import { HEADER_BYTES, Writer, writeU64 } from "../../src/front/smb/codec/wire.ts";
import {
  type DirectLine,
  EMPTY_BODY,
  type SmbClient,
} from "../../src/front/smb/smb-client.fixture.ts";
import { serverUnderTest, USER } from "../../src/front/smb/smb-server.fixture.ts";
import { Random } from "../sim/random.ts";

const SEED = Number(process.env.LAZULI_SEED ?? randomInt(1_000_000));
const FRAMES = Number(process.env.LAZULI_SMB_FRAMES ?? 100_000);
/** Frames on one connection, if the server does not close it before. */
const FRAMES_PER_CONNECTION = 200;
const DIALECTS = [DIALECT.smb202, DIALECT.smb210, DIALECT.smb300, DIALECT.smb311];
const SIGNED = 8;
/**
 * A pipe, a file and a directory. The file is a new one each time, because damage may make it
 * read-only.
 */
const places = (count: number) => [
  ["IPC$", "srvsvc"] as const,
  ["box", `file-${count}`] as const,
  ["box", ""] as const,
];
/** Numbers that break offsets, lengths and counts. */
const EXTREMES = [0, 1, 7, 63, 64, 65, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff];

/**
 * Frames that smbclient and smbtorture sent in the clear, one of each kind. Log-ons are made anew.
 */
const CAPTURED: readonly Buffer[] = (
  JSON.parse(readFileSync("test/vectors/smb-frames.json", "utf8")) as string[]
).map((frame) => Buffer.from(frame, "hex"));

/** Offset in the body of the file id that a request works on. */
const FILE_ID_AT: Readonly<Record<number, number>> = {
  [COMMAND.close]: 8,
  [COMMAND.flush]: 8,
  [COMMAND.read]: 16,
  [COMMAND.write]: 16,
  [COMMAND.lock]: 8,
  [COMMAND.ioctl]: 8,
  [COMMAND.queryDirectory]: 8,
  [COMMAND.changeNotify]: 8,
  [COMMAND.queryInfo]: 24,
  [COMMAND.setInfo]: 16,
  [COMMAND.oplockBreak]: 8,
};

/** A client's opens, for requests to work on. */
interface Opened {
  readonly treeId: number;
  readonly fileId: Buffer;
}

/** The captured frame as this client would send it now: with its own ids, all else unchanged. */
function asOf(client: SmbClient, captured: Buffer, { treeId, fileId }: Opened): Buffer {
  const frame = Buffer.from(captured);
  for (let at = 0; ; ) {
    const message = frame.subarray(at);
    const command = message.readUInt16LE(12);
    const charge = Math.max(1, message.readUInt16LE(6));
    message.writeUInt32LE(message.readUInt32LE(16) & ~SIGNED, 16);
    writeU64(message, 24, client.nextMessageId);
    message.writeUInt32LE(treeId, 36);
    writeU64(message, 40, client.sessionId);
    const fileIdAt = FILE_ID_AT[command];
    if (fileIdAt !== undefined && message.length >= HEADER_BYTES + fileIdAt + 16) {
      fileId.copy(message, HEADER_BYTES + fileIdAt);
    }
    if (command !== COMMAND.cancel) client.nextMessageId += charge;
    const next = message.readUInt32LE(20);
    if (next === 0) return frame;
    at += next;
  }
}

/** Changes one to four places, mostly after the header, where more is parsed. */
function damage(frame: Buffer, random: Random): Buffer {
  for (let left = 1 + random.below(4); left > 0; left--) {
    const inHeader = random.chance(0.04);
    const at = inHeader ? random.below(HEADER_BYTES) : HEADER_BYTES + random.below(64);
    const value = random.pick(EXTREMES);
    if (at >= frame.length) continue;
    if (random.chance(0.4)) frame[at] = random.below(256);
    else if (random.chance(0.5) && at + 2 <= frame.length) frame.writeUInt16LE(value & 0xffff, at);
    else if (random.chance(0.7) && at + 4 <= frame.length) frame.writeUInt32LE(value, at);
    else frame.subarray(at, at + 8).fill(random.pick([0x00, 0x7f, 0xff]));
  }
  return random.chance(0.03) ? frame.subarray(0, random.below(frame.length + 1)) : frame;
}

async function loggedOn(client: SmbClient, random: Random, count: number): Promise<Opened[]> {
  await client.negotiate({ dialects: [random.pick(DIALECTS)] });
  await client.logOn(USER);
  const opened: Opened[] = [];
  for (const [share, name] of places(count)) {
    await client.treeConnect(share);
    const text = Buffer.from(name, "utf16le");
    const body = new Writer().u16(57).u16(0).u32(2).zeros(16).u32(0x1f01ff).u32(0).u32(7).u32(3);
    body.u32(0).u16(120).u16(text.length).u32(0).u32(0).bytes(text).zeros(1);
    const reply = await client.call(COMMAND.create, body.done());
    assert.equal(reply.status, 0, `0x${reply.status.toString(16)}`);
    const fileId = Buffer.from(reply.bytes.subarray(HEADER_BYTES + 64, HEADER_BYTES + 80));
    opened.push({ treeId: client.treeId, fileId });
  }
  return opened;
}

/** Whether the server still answers; it may also have closed the connection. */
async function answersEcho(client: SmbClient): Promise<boolean> {
  const echo = client.frame(COMMAND.echo, EMPTY_BODY);
  client.line.send(echo);
  for (;;) {
    const frame = await client.line.next();
    if (frame === null) return false;
    if (frame.subarray(24, 32).equals(echo.subarray(24, 32))) return true;
  }
}

test(`${FRAMES} damaged frames: each is answered or disconnected, and nothing breaks`, async (t) => {
  t.diagnostic(`LAZULI_SEED=${SEED}`);
  const random = new Random(SEED);
  const { client, server, failures } = await serverUnderTest();
  for (let sent = 0; sent < FRAMES; ) {
    const one = client();
    const opened = await loggedOn(one, random, sent);
    for (let on = 0; on < FRAMES_PER_CONNECTION && sent < FRAMES; on++) {
      sent++;
      const frame = damage(asOf(one, random.pick(CAPTURED), random.pick(opened)), random);
      one.line.send(one.sealer !== null && random.chance(0.1) ? one.seal(frame) : frame);
      if (!(await answersEcho(one))) break;
    }
    await (one.line as DirectLine).end();
    assert.deepEqual(failures, [], `LAZULI_SEED=${SEED}`);
  }
  assert.equal(server.sessions.size, 0);
  const { store } = server.hostOf(USER.user).files;
  const left = await store.read((view) =>
    [SPACE.handle, SPACE.opens, SPACE.rangeLock].flatMap((space) =>
      view.range(key(space), keyAfter(key(space)), { limit: 1 }),
    ),
  );
  assert.deepEqual(left, [], "every handle and lock went with its connection");
});
