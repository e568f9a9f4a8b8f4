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

test("beyond the limit the client that has read nothing for longest is cut, and no other", () => {
  const unsent = new UnsentAnswers(100);
  const [first, second, third] = readers(3) as [Reader, Reader, Reader];
  unsent.add(first, 50);
  unsent.add(second, 50);
  assert.equal(first.isCut, false);
  unsent.add(third, 50);
  assert.deepEqual([first.isCut, second.isCut, third.isCut], [true, false, false]);
  assert.equal(unsent.bytes, 100);
});

test("a client that has read something since is spared while there are others", () => {
  const unsent = new UnsentAnswers(100);
  const [first, second, third] = readers(3) as [Reader, Reader, Reader];
  unsent.add(first, 40);
  unsent.add(second, 40);
  unsent.add(third, 40);
  assert.deepEqual([first.isCut, second.isCut, third.isCut], [true, false, false]);
  second.moved = 1;
  unsent.add(first, 40);
  assert.deepEqual([second.isCut, third.isCut], [false, true]);
});

test("the limit holds even if all clients make progress", () => {
  const unsent = new UnsentAnswers(100);
  const all = readers(5);
  for (const reader of all) {
    for (const other of all) other.moved++;
    unsent.add(reader, 40);
    assert.ok(unsent.bytes <= 100);
  }
  assert.equal(all.filter(({ isCut }) => isCut).length, 3);
});

test("answers that were read or released do not count", () => {
  const unsent = new UnsentAnswers(100);
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
