import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { skipWithoutDebianProgram } from "../../test/programs/debian-program.ts";
import type { Bytes } from "../base/bytes.ts";
import { alignedBytes } from "./aligned-bytes.ts";
import { xxh64, xxh64Low } from "./xxh64.ts";

const memory = alignedBytes(200_000);

function placed(bytes: Bytes, at: number): Bytes {
  memory.set(bytes, at);
  return memory.subarray(at, at + bytes.length);
}

const hex = (digest: bigint) => digest.toString(16).padStart(16, "0");

test("digests are those of the reference implementation, with every seed", () => {
  const counted = Buffer.from(Array.from({ length: 65_532 }, (_, at) => at & 0xff));
  for (const [length, ...digests] of VECTORS) {
    const bytes = placed(counted.subarray(0, length), length % 13);
    assert.deepEqual(
      SEEDS.map((seed) => hex(xxh64(bytes, seed))),
      digests,
      `${length} bytes`,
    );
    assert.deepEqual(
      SEEDS.map((seed) => xxh64Low(bytes, seed)),
      digests.map((digest) => Number.parseInt(digest.slice(8), 16)),
    );
  }
});

const skip = skipWithoutDebianProgram("xxhsum", "xxhash") ?? false;

test("xxhsum agrees, on random bytes of many lengths", { skip }, () => {
  const bytes = randomBytes(70_000);
  for (const length of [0, 1, 5, 12, 29, 31, 32, 47, 64, 95, 4_096, 65_532, 70_000]) {
    const some = bytes.subarray(0, length);
    const { stdout } = spawnSync("xxhsum", ["-H1"], { input: some, encoding: "latin1" });
    const found = hex(xxh64(placed(some, length % 13), 0));
    assert.equal(found, stdout.slice(0, 16), some.toString("hex", 0, 200));
  }
});

test("the digest detects changed bits, words, sectors and shifted bytes, in all places", () => {
  const bytes = memory.subarray(0, 4_096);
  for (const sound of [someBytes(bytes.length), Buffer.alloc(bytes.length)]) {
    const damaged = (damage: (bytes: Bytes) => void) => {
      bytes.set(sound);
      damage(bytes);
      return bytes.equals(sound) ? null : xxh64Low(bytes, SEED);
    };
    const right = xxh64Low(placed(sound, 0), SEED);
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
  assert.throws(() => xxh64Low(Buffer.alloc(10), 0), /aligned memory only/);
});

const SEED = 7;
const SEEDS = [0, SEED, 0x9e3779b1];
/** A length, and libxxhash 0.8.1's digest of that many bytes 0, 1, 2, …, for each seed. */
const VECTORS: readonly [number, ...string[]][] = [
  [0, "ef46db3751d8e999", "95f0626f6f0a4409", "ac75fda2929b17ef"],
  [1, "e934a84adb052768", "d90df86c76f52e13", "5014607643a9b4c3"],
  [3, "e5c7bb4533bc65dd", "5ab1230478ca6310", "47aa45ed39ed5541"],
  [4, "ffced8604453cc1e", "6ae497162d0610d7", "b8f1a51893fa14e6"],
  [8, "884a173614b81b8d", "3072f8c5cba43e9a", "cb74ef9d044dcf44"],
  [14, "5cda8b69bbfc1d45", "715d82e3d5c5940e", "9637a6a8d7711686"],
  [31, "c346d2b59b4d8ee1", "0bdbbcaead6c6e56", "71969c89a30a986a"],
  [32, "cbf59c5116ff32b4", "a5972d57c4aea230", "7181354774e0d600"],
  [33, "0c535d1acafb8ead", "0c43e57754c778d9", "57bd8ad0a0390e6d"],
  [63, "e26aa9e2a95f8e4f", "379eeab4056e3988", "892362045c7badfb"],
  [222, "88ff0dada4bfa877", "06d2b0668b89398c", "4c35046ebb437ef3"],
  [65_532, "8ed8ff68955f4a66", "3f58b483eb248212", "86767afa8772ee33"],
];

/** Reproducible bytes. With random bytes, one in 33,000 runs would miss one of these changes. */
function someBytes(outputLength: number): Bytes {
  return createHash("shake256", { outputLength }).digest();
}
