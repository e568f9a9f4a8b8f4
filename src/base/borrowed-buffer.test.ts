import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type BorrowedBuffer,
  type BufferOwner,
  borrowTogether,
  borrowWhole,
  copyAndRelease,
  copyParts,
  eachBorrowed,
} from "./borrowed-buffer.ts";
import type { Bytes } from "./bytes.ts";

/** Hands out one byte at a time, fails at byte `broken`, and counts buffers not released yet. */
class Counting implements BufferOwner {
  borrowed = 0;
  asked = 0;
  readonly #count: number;
  readonly #broken: number | null;

  constructor(count: number, broken: number | null = null) {
    this.#count = count;
    this.#broken = broken;
  }

  async borrow(): Promise<BorrowedBuffer | null> {
    const byte = this.asked++;
    if (byte === this.#broken) throw new Error("broken");
    if (byte >= this.#count) return null;
    this.borrowed++;
    return { parts: [Buffer.of(byte)], mayOverwrite: true, release: () => this.borrowed-- };
  }
}

test("buffers come in order, the next one is borrowed meanwhile, and all are released", async () => {
  const owner = new Counting(5);
  const seen: number[] = [];
  await eachBorrowed(owner, async ([part]) => {
    seen.push((part as Bytes)[0] as number);
    assert.equal(owner.asked, seen.length + 1);
    assert.ok(owner.borrowed <= 2);
  });
  assert.deepEqual(seen, [0, 1, 2, 3, 4]);
  assert.equal(owner.borrowed, 0);
});

test("a borrower that stops or fails gets no more buffers, and none stays borrowed", async () => {
  const enough = new Counting(5);
  await eachBorrowed(enough, async () => false);
  const failing = new Counting(5);
  const failed = eachBorrowed(failing, () => Promise.reject(new Error("full")));
  await assert.rejects(failed, /full/);
  await new Promise((resolve) => setImmediate(resolve));
  for (const { asked, borrowed } of [enough, failing]) assert.deepEqual([asked, borrowed], [2, 0]);
});

test("an owner that fails ends the loop, and no buffer stays borrowed", async () => {
  const bit = new Counting(5, 2);
  let shown = 0;
  const taken = eachBorrowed(bit, async () => {
    shown++;
    // The buffer borrowed ahead may fail long before anybody awaits it.
    await new Promise((resolve) => setImmediate(resolve));
  });
  await assert.rejects(taken, /broken/);
  assert.deepEqual([shown, bit.borrowed], [2, 0]);
  const whole = new Counting(5, 3);
  await assert.rejects(borrowWhole(whole), /broken/);
  assert.equal(whole.borrowed, 0);
});

test("everything is borrowed as one buffer, which can be copied", async () => {
  const owner = new Counting(4);
  const whole = await borrowWhole(owner);
  assert.equal(owner.borrowed, 4);
  assert.deepEqual(copyAndRelease(whole), Buffer.of(0, 1, 2, 3));
  assert.equal(owner.borrowed, 0);
});

test("buffers asked for at once are joined in order, and all released if one fails", async () => {
  let out = 0;
  const borrow = async (byte: number, delays: number): Promise<BorrowedBuffer> => {
    for (let delay = 0; delay < delays; delay++) await Promise.resolve();
    out++;
    return { parts: [Buffer.of(byte)], mayOverwrite: byte !== 9, release: () => out-- };
  };
  const whole = await borrowTogether([borrow(1, 3), borrow(2, 1), borrow(3, 2)]);
  assert.equal(whole.mayOverwrite, true);
  assert.deepEqual(copyAndRelease(whole), Buffer.of(1, 2, 3));
  const mixed = await borrowTogether([borrow(1, 0), borrow(9, 0)]);
  assert.equal(mixed.mayOverwrite, false);
  mixed.release();
  const broken = Promise.reject(new Error("damaged"));
  await assert.rejects(borrowTogether([borrow(1, 5), broken, borrow(3, 0)]), /damaged/);
  assert.equal(out, 0);
});

test("parts are copied one after another, empty ones too, and no other byte changes", () => {
  const into = Buffer.alloc(6, 0xff);
  assert.equal(copyParts([Buffer.of(1, 2), Buffer.alloc(0), Buffer.of(3)], into.subarray(1)), 3);
  assert.deepEqual(into, Buffer.of(0xff, 1, 2, 3, 0xff, 0xff));
});
