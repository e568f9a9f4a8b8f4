import assert from "node:assert/strict";
import { test } from "node:test";
import { KIB, MIB } from "../base/limits.ts";
import { SendBudget, type Share } from "./send-budget.ts";

const MUCH = 100 * MIB;

test("the first answers get large shares, the next smaller ones, and all others small ones", () => {
  const budget = new SendBudget({ largeBytesMax: 8 * MIB, smallBytesMax: 1 * MIB });
  const sizes = Array.from({ length: 10 }, () => (budget.share(MUCH, false) as Share).bytes);
  const { length } = sizes.filter((bytes) => bytes === 4 * MIB);
  assert.ok(length >= 1 && length <= 2);
  assert.ok(sizes.includes(1 * MIB) || length === 2);
  assert.equal(sizes.at(-1), 64 * KIB);
  assert.equal(budget.tryLarge(MUCH, false), null, "nothing is read ahead then");
});

test("a share is never larger than the rest of the answer", () => {
  assert.equal((new SendBudget().share(10, false) as Share).bytes, 10);
});

test("if all small shares are taken, answers wait for one, first come, first served", async () => {
  const budget = new SendBudget({ largeBytesMax: 1, smallBytesMax: 128 * KIB });
  assert.notEqual(budget.tryLarge(1, false), null);
  const [first, second] = [budget.share(MUCH, false) as Share, budget.share(MUCH, false) as Share];
  const got: string[] = [];
  const waits = ["third", "fourth"].map(async (name) => {
    const wait = budget.share(MUCH, false);
    assert.ok(wait instanceof Promise);
    const share = await wait;
    got.push(name);
    return share;
  });
  first.release();
  await waits[0];
  assert.deepEqual(got, ["third"]);
  second.release();
  await waits[1];
  assert.deepEqual(got, ["third", "fourth"]);
});

test("an encrypted answer counts with its copies", () => {
  const budget = new SendBudget({ largeBytesMax: 1, smallBytesMax: 3 * 64 * KIB });
  assert.notEqual(budget.tryLarge(1, false), null);
  assert.ok(!(budget.share(MUCH, true) instanceof Promise));
  assert.ok(budget.share(MUCH, true) instanceof Promise);
});
