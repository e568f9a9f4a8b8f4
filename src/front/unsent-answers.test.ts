import assert from "node:assert/strict";
import { test } from "node:test";
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

test("beyond the limit the reader that has stood still for longest is cut, and no other", () => {
  const unsent = new UnsentAnswers(100);
  const [first, second, third] = readers(3) as [Reader, Reader, Reader];
  unsent.hold(first, 50);
  unsent.hold(second, 50);
  assert.equal(first.isCut, false);
  unsent.hold(third, 50);
  assert.deepEqual([first.isCut, second.isCut, third.isCut], [true, false, false]);
  assert.equal(unsent.bytes, 100);
});

test("one that has taken something since is spared while there are others", () => {
  const unsent = new UnsentAnswers(100);
  const [first, second, third] = readers(3) as [Reader, Reader, Reader];
  unsent.hold(first, 40);
  unsent.hold(second, 40);
  unsent.hold(third, 40);
  assert.deepEqual([first.isCut, second.isCut, third.isCut], [true, false, false]);
  second.moved = 1;
  unsent.hold(first, 40);
  assert.deepEqual([second.isCut, third.isCut], [false, true]);
});

test("if all of them move, the limit still holds", () => {
  const unsent = new UnsentAnswers(100);
  const all = readers(5);
  for (const reader of all) {
    for (const other of all) other.moved++;
    unsent.hold(reader, 40);
    assert.ok(unsent.bytes <= 100);
  }
  assert.equal(all.filter(({ isCut }) => isCut).length, 3);
});

test("what was taken or given up does not count", () => {
  const unsent = new UnsentAnswers(100);
  const [first, second] = readers(2) as [Reader, Reader];
  unsent.hold(first, 80);
  unsent.hold(first, 60);
  assert.equal(unsent.bytes, 60);
  unsent.release(first);
  unsent.release(first);
  unsent.hold(second, 100);
  assert.equal(unsent.bytes, 100);
  assert.equal(first.isCut || second.isCut, false);
});
