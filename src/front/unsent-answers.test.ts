import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../base/clock.ts";
import { UnsentAnswers } from "./unsent-answers.ts";

class Reader {
  readonly waiting = true;
  moved = 0;
  isCut = false;
  cut(): void {
    this.isCut = true;
  }
}

function readers(count: number): Reader[] {
  return Array.from({ length: count }, () => new Reader());
}

test("beyond the limit the client that has read nothing for longest is cut, and no other", () => {
  const clock = new ManualClock(0);
  const unsent = new UnsentAnswers(100, clock);
  const [first, second, third] = readers(3) as [Reader, Reader, Reader];
  unsent.add(first, 50);
  unsent.add(second, 50);
  clock.advance(1_000);
  assert.equal(first.isCut, false);
  unsent.add(third, 50);
  assert.deepEqual([first.isCut, second.isCut, third.isCut], [true, false, false]);
  assert.equal(unsent.bytes, 100);
});

test("answers that exceed the limit in the same moment are all left their time to be read", () => {
  const clock = new ManualClock(0);
  const unsent = new UnsentAnswers(100, clock);
  const all = readers(9);
  for (const reader of all) unsent.add(reader, 40);
  clock.advance(999);
  unsent.add(all[0] as Reader, 40);
  assert.ok(all.every(({ isCut }) => !isCut));
});

test("beyond the limit a client that reads is spared, and one that has stalled is cut", () => {
  const clock = new ManualClock(0);
  const unsent = new UnsentAnswers(100, clock);
  const [first, second, third] = readers(3) as [Reader, Reader, Reader];
  unsent.add(first, 60);
  unsent.add(second, 60);
  clock.advance(1_000);
  first.moved = 1;
  unsent.add(third, 60);
  assert.deepEqual([first.isCut, second.isCut, third.isCut], [false, true, false]);
});

test("four times the limit holds even if all clients make progress", () => {
  const clock = new ManualClock(0);
  const unsent = new UnsentAnswers(100, clock);
  const all = readers(15);
  for (const reader of all) {
    for (const other of all) other.moved++;
    clock.advance(10);
    unsent.add(reader, 40);
    assert.ok(unsent.bytes <= 400);
  }
  assert.equal(all.filter(({ isCut }) => isCut).length, 5);
});

test("answers that were read or released do not count", () => {
  const unsent = new UnsentAnswers(100, new ManualClock(0));
  const [first, second] = readers(2) as [Reader, Reader];
  unsent.add(first, 80);
  unsent.add(first, 60);
  assert.equal(unsent.bytes, 60);
  unsent.release(first);
  unsent.release(first);
  unsent.add(second, 100);
  assert.equal(unsent.bytes, 100);
  assert.equal(first.isCut || second.isCut, false);
});
