import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { alignedBytes } from "./aligned-bytes.ts";
import type { Bytes } from "./bytes.ts";
import { checksum32 } from "./checksum.ts";

const memory = alignedBytes(200_000);

function checksumAt(bytes: Bytes, at: number): number {
  memory.set(bytes, at);
  return checksum32(memory.subarray(at, at + bytes.length));
}

test("a checksum of any length is that of its definition, wherever the bytes lie", () => {
  const bytes = randomBytes(70_000);
  const lengths = [...Array.from({ length: 200 }, (_, length) => length), 65_531, 65_532, 70_000];
  for (const length of lengths) {
    const some = bytes.subarray(0, length);
    const found = checksumAt(some, length % 13);
    assert.equal(found, defined(some), `${length} bytes of ${some.toString("hex", 0, 200)}`);
  }
});

test("checksums stay what they are: disks are full of them", () => {
  const counted = Buffer.from(Array.from({ length: 1_000 }, (_, at) => at & 0xff));
  const found = [0, 1, 8, 64, 1_000].map((length) => checksumAt(counted.subarray(0, length), 0));
  assert.deepEqual(found, KNOWN);
});

test("every damage is seen: bits, words, sectors, what lies elsewhere, in all places", () => {
  const bytes = memory.subarray(0, 4_096);
  for (const sound of [someBytes(bytes.length), Buffer.alloc(bytes.length)]) {
    const damaged = (damage: (bytes: Bytes) => void) => {
      bytes.set(sound);
      damage(bytes);
      return bytes.equals(sound) ? null : checksum32(bytes);
    };
    const right = checksumAt(sound, 0);
    const see = (what: string, damage: (bytes: Bytes) => void) =>
      assert.notEqual(damaged(damage), right, `${what} in ${sound.toString("hex")}`);
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      see(`bit ${bit}`, (all) =>
        all.writeUInt8((all[bit >> 3] as number) ^ (1 << (bit & 7)), bit >> 3),
      );
    }
    for (let at = 0; at < bytes.length; at += 8) {
      see(`a word at ${at}`, (all) => all.fill(0xff, at, at + 8));
      see(`the words at ${at}`, (all) => all.copyWithin(at, at + 64, at + 72));
    }
    for (let at = 0; at < bytes.length; at += 512) {
      see(`a sector at ${at}`, (all) => all.fill(0xdb, at, at + 512));
      see(`what is shifted at ${at}`, (all) => all.copyWithin(at + 1, at, at + 511));
    }
  }
});

test("bytes outside of aligned memory are refused", () => {
  assert.throws(() => checksum32(Buffer.alloc(10)), /aligned memory only/);
});

const KNOWN = [257_445_165, 2_515_180_369, 1_391_751_998, 1_522_999_066, 3_532_774_666];

/** The same every time. Of so many damages of random bytes, one in 33,000 runs would miss one. */
function someBytes(outputLength: number): Bytes {
  return createHash("shake256", { outputLength }).digest();
}

const cut = (value: bigint) => BigInt.asUintN(64, value);
const turned = (value: bigint) => cut(value << 31n) | (value >> 33n);
const step = (state: bigint, word: bigint) => turned(cut((state ^ word) * 0x9e3779b185ebca87n));

/** As it is described. */
function defined(bytes: Bytes): number {
  const start = 0xc2b2ae3d27d4eb4fn;
  const lanes = [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n].map((factor) => cut(start * factor));
  let at = 0;
  for (; at + 64 <= bytes.length; at += 64) {
    for (const [index, lane] of lanes.entries()) {
      lanes[index] = step(lane, bytes.readBigUInt64LE(at + 8 * index));
    }
  }
  let state = lanes.reduce(step, BigInt(bytes.length));
  for (; at + 8 <= bytes.length; at += 8) state = step(state, bytes.readBigUInt64LE(at));
  for (; at < bytes.length; at++) state = step(state, BigInt(bytes[at] as number));
  state = cut((state ^ (state >> 33n)) * start);
  state = cut((state ^ (state >> 29n)) * 0x165667b19e3779f9n);
  return Number((state ^ (state >> 32n)) & 0xffff_ffffn);
}
