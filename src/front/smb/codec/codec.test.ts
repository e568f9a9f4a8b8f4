import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Bytes } from "../../../base/bytes.ts";
import { StatusError } from "../nt-status.ts";
import { readChangeNotify } from "./change-notify.ts";
import { readClose, writeClose } from "./close.ts";
import { readCreate, writeCreate } from "./create.ts";
import { readEmpty } from "./empty.ts";
import { readFlush } from "./flush.ts";
import { readIoctl } from "./ioctl.ts";
import { readLock } from "./lock.ts";
import { readNegotiate, readSmb1Negotiate } from "./negotiate.ts";
import { readBreakAcknowledgement, writeOplockBreak } from "./oplock-break.ts";
import { readQueryDirectory, writeOutput } from "./query-directory.ts";
import { readQueryInfo } from "./query-info.ts";
import { readRead } from "./read.ts";
import { readSessionSetup } from "./session-setup.ts";
import { readSetInfo, writeSetInfo } from "./set-info.ts";
import { readTransform, writeTransform } from "./transform.ts";
import { readTreeConnect } from "./tree-connect.ts";
import { HEADER_BYTES, readU64, Writer, writeU64 } from "./wire.ts";
import { readWriteData, readWriteHead } from "./write.ts";

/** A message with this body; offsets in it count from the header. */
const message = (body: Writer) => Buffer.concat([Buffer.alloc(HEADER_BYTES), body.done()]);
const text = (value: string) => Buffer.from(value, "utf16le");
const fileId = { persistent: 5, volatile: 7 };

const create = () =>
  message(
    new Writer()
      .u16(57)
      .u8(0)
      .u8(9)
      .u32(2)
      .zeros(16)
      .u32(0x80)
      .u32(0x20)
      .u32(7)
      .u32(1)
      .u32(0x40)
      .u16(HEADER_BYTES + 56)
      .u16(6)
      .u32(HEADER_BYTES + 64)
      .u32(24)
      .text("a\\b")
      .zeros(2)
      .bytes(
        new Writer()
          .u32(0)
          .u16(16)
          .u16(4)
          .u16(0)
          .u16(0)
          .u32(0)
          .bytes(Buffer.from("QFid"))
          .zeros(4)
          .done(),
      ),
  );

const readWrite = (bytes: Bytes) => {
  const head = readWriteHead(bytes);
  return { ...head, data: readWriteData(bytes, head) };
};

/** A well-formed request for every decoder, to be damaged. */
const REQUESTS: [string, (bytes: Bytes) => unknown, Bytes][] = [
  ["create", readCreate, create()],
  ["close", readClose, message(new Writer().u16(24).u16(1).u32(0).u64(5).u64(7))],
  ["flush", readFlush, message(new Writer().u16(24).zeros(6).u64(5).u64(7))],
  [
    "read",
    readRead,
    message(new Writer().u16(49).u16(0).u32(512).u64(4096).u64(5).u64(7).u32(1).zeros(13)),
  ],
  [
    "write",
    readWrite,
    message(
      new Writer()
        .u16(49)
        .u16(112)
        .u32(3)
        .u64(9)
        .u64(5)
        .u64(7)
        .zeros(12)
        .u32(1)
        .bytes(Buffer.from("abc")),
    ),
  ],
  [
    "lock",
    readLock,
    message(
      new Writer()
        .u16(48)
        .u16(1)
        .u32(3)
        .u64(5)
        .u64(7)
        .u64(1)
        .u64(2n ** 64n - 1n)
        .u32(2)
        .u32(0),
    ),
  ],
  [
    "ioctl",
    readIoctl,
    message(
      new Writer()
        .u16(57)
        .u16(0)
        .u32(0x11c017)
        .u64(5)
        .u64(7)
        .u32(120)
        .u32(2)
        .zeros(12)
        .u32(64)
        .u32(1)
        .u32(0)
        .bytes(Buffer.from("in")),
    ),
  ],
  [
    "query directory",
    readQueryDirectory,
    message(
      new Writer().u16(33).u8(37).u8(1).u32(0).u64(5).u64(7).u16(96).u16(2).u32(99).text("*"),
    ),
  ],
  [
    "query info",
    readQueryInfo,
    message(
      new Writer().u16(41).u8(1).u8(18).u32(99).u16(0).u16(0).u32(0).u32(3).u32(0).u64(5).u64(7),
    ),
  ],
  [
    "set info",
    readSetInfo,
    message(new Writer().u16(33).u8(1).u8(20).u32(8).u16(96).u16(0).u32(0).u64(5).u64(7).u64(11)),
  ],
  [
    "change notify",
    readChangeNotify,
    message(new Writer().u16(32).u16(1).u32(99).u64(5).u64(7).u32(3).u32(0)),
  ],
  [
    "tree connect",
    readTreeConnect,
    message(new Writer().u16(9).u16(0).u16(72).u16(12).text("\\\\h\\ab")),
  ],
  [
    "session setup",
    readSessionSetup,
    message(
      new Writer()
        .u16(25)
        .u8(0)
        .u8(2)
        .u32(0)
        .u32(0)
        .u16(88)
        .u16(3)
        .u64(8)
        .bytes(Buffer.from("abc")),
    ),
  ],
  [
    "negotiate",
    readNegotiate,
    message(
      new Writer()
        .u16(36)
        .u16(1)
        .u16(1)
        .u16(0)
        .u32(4)
        .bytes(Buffer.alloc(16, 3))
        .u32(104)
        .u16(1)
        .u16(0)
        .u16(0x311)
        .zeros(2)
        .u16(1)
        .u16(6)
        .u32(0)
        .u16(1)
        .u16(0)
        .u16(1),
    ),
  ],
  [
    "oplock break",
    readBreakAcknowledgement,
    message(new Writer().u16(24).u8(1).zeros(5).u64(5).u64(7)),
  ],
  [
    "lease break",
    readBreakAcknowledgement,
    message(new Writer().u16(36).u16(0).u32(0).bytes(Buffer.alloc(16, 1)).u32(3).u64(0)),
  ],
  ["echo", readEmpty, message(new Writer().u16(4).u16(0))],
];

test("requests are decoded correctly", () => {
  const read = new Map(REQUESTS.map(([name, decode, bytes]) => [name, decode(bytes)]));
  assert.deepEqual(read.get("create"), {
    oplock: 9,
    impersonation: 2,
    access: 0x80,
    attributes: 0x20,
    share: 7,
    disposition: 1,
    options: 0x40,
    name: "a\\b",
    contexts: [{ name: "QFid", data: Buffer.alloc(0) }],
  });
  assert.deepEqual(read.get("close"), { fileId, wantsAttributes: true });
  assert.deepEqual(read.get("flush"), fileId);
  assert.deepEqual(read.get("read"), { fileId, offset: 4096, length: 512, lengthMin: 1 });
  assert.deepEqual(read.get("write"), {
    fileId,
    offset: 9,
    dataAt: HEADER_BYTES + 48,
    length: 3,
    data: Buffer.from("abc"),
    through: true,
  });
  const ranges = [{ offset: 1n, length: 2n ** 64n - 1n, flags: 2 }];
  assert.deepEqual(read.get("lock"), { fileId, sequence: 3, ranges });
  assert.deepEqual(read.get("ioctl"), {
    code: 0x11c017,
    fileId,
    input: Buffer.from("in"),
    outputBytesMax: 64,
    isFsctl: true,
  });
  assert.deepEqual(read.get("query directory"), {
    infoClass: 37,
    flags: 1,
    fileIndex: 0,
    fileId,
    pattern: "*",
    outputBytesMax: 99,
  });
  assert.deepEqual(read.get("query info"), {
    type: 1,
    infoClass: 18,
    outputBytesMax: 99,
    input: Buffer.alloc(0),
    additional: 3,
    flags: 0,
    fileId,
  });
  const eleven = Buffer.from([11, 0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual(read.get("set info"), {
    type: 1,
    infoClass: 20,
    additional: 0,
    fileId,
    input: eleven,
  });
  assert.deepEqual(read.get("change notify"), {
    fileId,
    recursive: true,
    filter: 3,
    outputBytesMax: 99,
  });
  assert.equal(read.get("tree connect"), "ab");
  assert.deepEqual(read.get("session setup"), {
    binding: false,
    signingRequired: true,
    token: Buffer.from("abc"),
    previousSessionId: 8,
  });
  assert.deepEqual(read.get("negotiate"), {
    dialects: [0x311],
    securityMode: 1,
    capabilities: 4,
    clientGuid: Buffer.alloc(16, 3),
    hashes: [1],
    ciphers: null,
    signings: null,
  });
  assert.deepEqual(read.get("oplock break"), { kind: "oplock", level: 1, fileId });
  const key = Buffer.alloc(16, 1);
  assert.deepEqual(read.get("lease break"), { kind: "lease", key, state: 3 });
});

test("a truncated request is refused, and never read beyond its end", () => {
  for (const [name, decode, bytes] of REQUESTS) {
    const fixed = bytes.readUInt16LE(HEADER_BYTES) & ~1;
    for (let length = HEADER_BYTES; length < HEADER_BYTES + fixed; length++) {
      assert.throws(() => decode(bytes.subarray(0, length)), StatusError, `${name}, ${length}`);
    }
  }
});

test("any bytes of a request are decoded or refused", () => {
  for (const [name, decode, bytes] of REQUESTS) {
    const at = fc.integer({ min: HEADER_BYTES + 2, max: bytes.length - 1 });
    const damage = fc.array(fc.tuple(at, fc.integer({ min: 0, max: 255 })), { maxLength: 6 });
    fc.assert(
      fc.property(damage, (changes) => {
        const damaged = Buffer.from(bytes);
        for (const [place, value] of changes) damaged[place] = value;
        try {
          decode(damaged);
        } catch (error) {
          assert.ok(error instanceof StatusError, `${name}: ${error}`);
        }
      }),
    );
  }
});

test("a path without a share is refused", () => {
  for (const path of ["\\\\host", "\\\\host\\", "share", "\\\\host\\a\\b", ""]) {
    const bytes = text(path);
    const asked = message(new Writer().u16(9).u16(0).u16(72).u16(bytes.length).bytes(bytes));
    assert.throws(() => readTreeConnect(asked), StatusError, path);
  }
});

test("responses have the sizes of the protocol", () => {
  const none = { created: 0n, accessed: 0n, written: 0n, changed: 0n };
  const file = { times: none, allocated: 0, size: 0, attributes: 0 };
  const created = { ...file, oplock: 0, action: 1, fileId, contexts: [] };
  assert.equal(writeCreate(created).length, 88);
  const context = { name: "QFid", data: Buffer.alloc(32) };
  assert.equal(writeCreate({ ...created, contexts: [context, context] }).length, 88 + 56 + 56);
  assert.equal(writeClose(null).length, 60);
  assert.equal(writeClose(file).length, 60);
  assert.equal(writeOutput(Buffer.from("abc")).length, 11);
  assert.equal(writeSetInfo().length, 2);
  assert.equal(writeOplockBreak(1, fileId).length, 24);
});

test("an encrypted frame with a wrong header is refused", () => {
  const header = writeTransform(Buffer.alloc(12), 5, 77);
  const frame = Buffer.concat([header, Buffer.alloc(5)]);
  assert.equal(readTransform(frame)?.sessionId, 77);
  assert.equal(readTransform(frame.subarray(0, -1)), null);
  assert.equal(readTransform(frame.subarray(0, 51)), null);
  frame[42] = 0;
  assert.equal(readTransform(frame), null);
});

test("of SMB1 only the names of dialects are decoded", () => {
  const names = Buffer.from("\x02NT LM 0.12\0\x02SMB 2.???\0", "latin1");
  const frame = Buffer.concat([Buffer.alloc(33), Buffer.from([names.length, 0]), names]);
  frame.writeUInt32LE(0x424d53ff);
  frame[4] = 0x72;
  assert.deepEqual(readSmb1Negotiate(frame), ["NT LM 0.12", "SMB 2.???"]);
  frame[4] = 0x73;
  assert.equal(readSmb1Negotiate(frame), null);
  assert.equal(readSmb1Negotiate(frame.subarray(0, 20)), null);
});

test("numbers of 64 bits are exact up to the largest that we use", () => {
  const bytes = Buffer.alloc(8);
  for (const value of [0, 1, 2 ** 32, 2 ** 53 - 1]) {
    writeU64(bytes, 0, value);
    assert.equal(readU64(bytes, 0), value);
    assert.equal(bytes.readBigUInt64LE(0), BigInt(value));
  }
});
