import assert from "node:assert/strict";
import { test } from "node:test";
import { SharedLines } from "./shared-lines.ts";

/** A file with a head and one acknowledged line. */
function bed() {
  const objections: string[] = [];
  const lines = new SharedLines("a", (what) => objections.push(what));
  const head = lines.nextHead();
  head.done();
  const line = lines.nextLine();
  line.done();
  const see = (...parts: string[]) => {
    lines.see(Buffer.from(parts.join("")), lines.floor(), "a read");
    return objections.splice(0).length;
  };
  return { lines, head: head.text, line: line.text, see };
}

test("a read shows each acknowledged line once", () => {
  const { head, line, see } = bed();
  assert.equal(see(head, line), 0);
  assert.equal(see(head), 1, "lost");
  assert.equal(see(head, line, line), 1, "twice");
  assert.equal(see(head, line, "b\n"), 1, "never written");
  assert.equal(see(head, line, "a-1"), 1, "without an end");
});

test("a line without a known outcome may be there or not, a refused one may not", () => {
  const { lines, head, line, see } = bed();
  const next = lines.nextLine();
  assert.equal(see(head, line), 0);
  assert.equal(see(head, line, next.text), 0);
  next.refused();
  assert.equal(see(head, line, next.text), 1);
});

test("a read shows the acknowledged head, or one that is still open", () => {
  const { lines, head, line, see } = bed();
  const next = lines.nextHead();
  assert.equal(see(head, line), 0);
  assert.equal(see(next.text, line), 0);
  next.done();
  assert.equal(see(next.text, line), 0);
  assert.equal(see(head, line), 1, "an older one");
  const refused = lines.nextHead();
  refused.refused();
  assert.equal(see(refused.text, line), 1);
});

test("a read that began earlier may miss what was acknowledged since", () => {
  const { lines, head, line } = bed();
  const objections: string[] = [];
  const floor = lines.floor();
  lines.nextLine().done();
  lines.nextHead().done();
  lines.see(Buffer.from(head + line), floor, "a read");
  assert.deepEqual(objections, []);
});
