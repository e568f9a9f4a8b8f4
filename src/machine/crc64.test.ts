import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { alignedBytes } from "./aligned-bytes.ts";
import { Crc64, crc64, crc64Remainder } from "./crc64.ts";

/** The definition, bit by bit. */
function bitwise(bytes: Uint8Array): Buffer {
  let state = 0xffff_ffff_ffff_ffffn;
  for (const byte of bytes) {
    state ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) {
      state = (state & 1n) === 0n ? state >> 1n : (state >> 1n) ^ 0x9a6c9329ac4bc9b5n;
    }
  }
  const digest = Buffer.alloc(8);
  digest.writeBigUInt64LE(state ^ 0xffff_ffff_ffff_ffffn);
  return digest;
}

test("the check value is the one the official SDK computes", () => {
  assert.equal(crc64(Buffer.from("123456789")).toString("base64"), "iJh5CoYUi64=");
  assert.equal(crc64(Buffer.alloc(0)).toString("hex"), "0000000000000000");
});

test("the CRC of any bytes is that of the definition", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      assert.deepEqual(crc64(Buffer.from(bytes)), bitwise(bytes));
    }),
    { numRuns: 300 },
  );
});

test("bytes in aligned memory have the same CRC, wherever they lie in it", () => {
  const memory = alignedBytes(100_000);
  alignedBytes(30_000_000);
  for (const [from, length] of [
    [0, 0],
    [0, 9],
    [5, 99_995],
    [4096, 40_000],
  ] as const) {
    const bytes = memory.subarray(from, from + length);
    for (let at = 0; at < length; at++) bytes[at] = (at * at * 7) >>> 4;
    assert.deepEqual(crc64(bytes), bitwise(bytes));
  }
});

test("the CRC does not depend on how the bytes are cut into parts", () => {
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, at) => (at * at) >>> 3));
  const expected = bitwise(bytes);
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 8 }), (cuts) => {
      const crc = new Crc64();
      let from = 0;
      for (const cut of [...cuts, bytes.length].sort((a, b) => a - b)) {
        crc.update(bytes.subarray(from, cut));
        from = cut;
      }
      assert.deepEqual(crc.digest(), expected);
    }),
  );
});

test("the remainder of a part that was computed elsewhere can be appended", () => {
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, at) => (at * at) >>> 3));
  const expected = crc64(bytes);
  fc.assert(
    fc.property(fc.nat(bytes.length), fc.nat(bytes.length), (one, other) => {
      const crc = new Crc64();
      const [from, until] = [Math.min(one, other), Math.max(one, other)];
      crc.update(bytes.subarray(0, from));
      const parts = [bytes.subarray(from, until), bytes.subarray(until)];
      for (const part of parts) crc.append(crc64Remainder(part), part.length);
      assert.deepEqual(crc.digest(), expected);
    }),
  );
});

test("digests under way at the same time do not disturb each other", () => {
  const [one, other] = [new Crc64(), new Crc64()];
  one.update(Buffer.from("12345"));
  other.update(Buffer.from("something else"));
  one.update(Buffer.from("6789"));
  assert.equal(one.digest().toString("base64"), "iJh5CoYUi64=");
});
