import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { alignedBytes } from "./aligned-bytes.ts";
import { xxh64Low } from "./xxh64.ts";

const memory = alignedBytes(200_000);

function lowOf(bytes: Uint8Array, at = 0): number {
  memory.set(bytes, at);
  return xxh64Low(memory.subarray(at, at + bytes.length));
}

test("XXH64 makes the digests that are published for it", () => {
  const published: [string, string][] = [
    ["", "ef46db3751d8e999"],
    ["a", "d24ec4f1a98c6e5b"],
    ["abc", "44bc2cf5ad770999"],
    ["Nobody inspects the spammish repetition", "fbcea83c8a378bf1"],
  ];
  for (const [text, digest] of published) {
    assert.equal(lowOf(Buffer.from(text)), Number.parseInt(digest.slice(8), 16), text);
  }
});

test("XXH64 of any length is that of its definition, wherever the bytes lie", () => {
  const bytes = randomBytes(70_000);
  const lengths = [...Array.from({ length: 100 }, (_, length) => length), 65_531, 65_532, 70_000];
  for (const length of lengths) {
    const some = bytes.subarray(0, length);
    const found = lowOf(some, length % 13);
    assert.equal(found, defined(some), `${length} bytes of ${some.toString("hex", 0, 100)}`);
  }
});

test("bytes outside of aligned memory are refused", () => {
  assert.throws(() => xxh64Low(Buffer.alloc(10)), /aligned memory only/);
});

const PRIMES = [
  0n,
  0x9e3779b185ebca87n,
  0xc2b2ae3d27d4eb4fn,
  0x165667b19e3779f9n,
  0x85ebca77c2b2ae63n,
  0x27d4eb2f165667c5n,
] as [bigint, bigint, bigint, bigint, bigint, bigint];

const cut = (value: bigint) => BigInt.asUintN(64, value);
const turn = (value: bigint, bits: bigint) => cut(value << bits) | (cut(value) >> (64n - bits));
const round = (lane: bigint, word: bigint) =>
  cut(turn(cut(lane + word * PRIMES[2]), 31n) * PRIMES[1]);

/** Step by step, as its specification says. */
function defined(bytes: Buffer): number {
  let at = 0;
  let state = PRIMES[5];
  if (bytes.length >= 32) {
    const lanes = [PRIMES[1] + PRIMES[2], PRIMES[2], 0n, -PRIMES[1]];
    for (; at + 32 <= bytes.length; at += 32) {
      for (let lane = 0; lane < 4; lane++) {
        lanes[lane] = round(lanes[lane] as bigint, bytes.readBigUInt64LE(at + 8 * lane));
      }
    }
    const turns = [1n, 7n, 12n, 18n];
    state = lanes.reduce((sum, lane, index) => cut(sum + turn(lane, turns[index] as bigint)), 0n);
    for (const lane of lanes) state = cut((state ^ round(0n, lane)) * PRIMES[1] + PRIMES[4]);
  }
  state = cut(state + BigInt(bytes.length));
  for (; at + 8 <= bytes.length; at += 8) {
    const word = round(0n, bytes.readBigUInt64LE(at));
    state = cut(turn(state ^ word, 27n) * PRIMES[1] + PRIMES[4]);
  }
  for (; at + 4 <= bytes.length; at += 4) {
    const half = cut(BigInt(bytes.readUInt32LE(at)) * PRIMES[1]);
    state = cut(turn(state ^ half, 23n) * PRIMES[2] + PRIMES[3]);
  }
  for (; at < bytes.length; at++) {
    state = cut(turn(state ^ cut(BigInt(bytes[at] as number) * PRIMES[5]), 11n) * PRIMES[1]);
  }
  state = cut((state ^ (state >> 33n)) * PRIMES[2]);
  state = cut((state ^ (state >> 29n)) * PRIMES[3]);
  return Number((state ^ (state >> 32n)) & 0xffff_ffffn);
}
