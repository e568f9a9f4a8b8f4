import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryBudget } from "./memory-budget.ts";

/** Takes bytes and notes a name once it has them. */
function take(budget: MemoryBudget, bytes: number, name: string, had: string[]): void {
  const wait = budget.take(bytes);
  if (wait === undefined) had.push(name);
  else void wait.then(() => had.push(name));
}

const nextIteration = () => new Promise((resolve) => setImmediate(resolve));

test("the budget is never exceeded, and waiting takers continue in order", async () => {
  const budget = new MemoryBudget(100);
  const had: string[] = [];
  take(budget, 60, "first", had);
  take(budget, 60, "second", had);
  take(budget, 10, "third", had);
  await nextIteration();
  assert.deepEqual(had, ["first"], "a small one does not overtake a large one that waits");
  assert.equal(budget.waiting, 2);
  budget.release(60);
  await nextIteration();
  assert.deepEqual(had, ["first", "second", "third"]);
  assert.equal(budget.taken, 70);
});

test("tryTake gets nothing while others wait", async () => {
  const budget = new MemoryBudget(100);
  assert.equal(budget.tryTake(100), true);
  assert.equal(budget.tryTake(1), false);
  const wait = budget.take(60);
  budget.release(50);
  assert.equal(budget.tryTake(1), false);
  budget.release(50);
  await wait;
  assert.equal(budget.tryTake(40), true);
});

test("a taker of more than the budget gets it alone, and does not wait for ever", async () => {
  const budget = new MemoryBudget(100);
  assert.equal(budget.tryTake(1), true);
  const wait = budget.take(1_000);
  assert.ok(wait instanceof Promise);
  budget.release(1);
  await wait;
  assert.equal(budget.tryTake(1), false);
  budget.release(1_000);
  assert.equal(budget.taken, 0);
});
