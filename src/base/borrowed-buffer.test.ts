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

/** Lends one byte after the other, breaks at `broken`, and counts what is out. */
class Counting implements BufferOwner {
  lent = 0;
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
    this.lent++;
    return { parts: [Buffer.of(byte)], mayOverwrite: true, release: () => this.lent-- };
  }
}

test("loans are shown in their order, the next one is asked for meanwhile, all are given back", async () => {
  const owner = new Counting(5);
  const seen: number[] = [];
  await eachBorrowed(owner, async ([part]) => {
    seen.push((part as Bytes)[0] as number);
    assert.equal(owner.asked, seen.length + 1);
    assert.ok(owner.lent <= 2);
  });
  assert.deepEqual(seen, [0, 1, 2, 3, 4]);
  assert.equal(owner.lent, 0);
});

test("a taker that wants no more, or fails, is shown no more, and nothing stays lent", async () => {
  const enough = new Counting(5);
  await eachBorrowed(enough, async () => false);
  const failing = new Counting(5);
  const failed = eachBorrowed(failing, () => Promise.reject(new Error("full")));
  await assert.rejects(failed, /full/);
  await new Promise((resolve) => setImmediate(resolve));
  for (const { asked, lent } of [enough, failing]) assert.deepEqual([asked, lent], [2, 0]);
});

test("a lender that breaks breaks the rest, and nothing stays lent", async () => {
  const bit = new Counting(5, 2);
  let shown = 0;
  const taken = eachBorrowed(bit, async () => {
    shown++;
    // What is asked for ahead may break long before anybody waits for it.
    await new Promise((resolve) => setImmediate(resolve));
  });
  await assert.rejects(taken, /broken/);
  assert.deepEqual([shown, bit.lent], [2, 0]);
  const whole = new Counting(5, 3);
  await assert.rejects(borrowWhole(whole), /broken/);
  assert.equal(whole.lent, 0);
});

test("all that is lent makes one loan, which can be kept", async () => {
  const owner = new Counting(4);
  const borrowed = await borrowWhole(owner);
  assert.equal(owner.lent, 4);
  assert.deepEqual(copyAndRelease(borrowed), Buffer.of(0, 1, 2, 3));
  assert.equal(owner.lent, 0);
});

test("loans that are asked for at once are one in their order, or none if one of them breaks", async () => {
  let out = 0;
  const lent = async (byte: number, turns: number): Promise<BorrowedBuffer> => {
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    out++;
    return { parts: [Buffer.of(byte)], mayOverwrite: byte !== 9, release: () => out-- };
  };
  const whole = await borrowTogether([lent(1, 3), lent(2, 1), lent(3, 2)]);
  assert.equal(whole.mayOverwrite, true);
  assert.deepEqual(copyAndRelease(whole), Buffer.of(1, 2, 3));
  const mixed = await borrowTogether([lent(1, 0), lent(9, 0)]);
  assert.equal(mixed.mayOverwrite, false);
  mixed.release();
  const broken = Promise.reject(new Error("damaged"));
  await assert.rejects(borrowTogether([lent(1, 5), broken, lent(3, 0)]), /damaged/);
  assert.equal(out, 0);
});

test("parts are copied one behind the other, empty ones too, and nothing else is touched", () => {
  const into = Buffer.alloc(6, 0xff);
  assert.equal(copyParts([Buffer.of(1, 2), Buffer.alloc(0), Buffer.of(3)], into.subarray(1)), 3);
  assert.deepEqual(into, Buffer.of(0xff, 1, 2, 3, 0xff, 0xff));
});
