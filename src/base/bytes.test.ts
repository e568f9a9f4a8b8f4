import assert from "node:assert/strict";
import { test } from "node:test";
import { type Body, collect, wholeBody } from "./bytes.ts";

function inParts(length: number, ...parts: string[]): Body {
  return {
    length,
    async drain(take) {
      for (const part of parts) await take(Buffer.from(part));
    },
  };
}

test("a body is collected from its parts, or taken whole if it has arrived", async () => {
  assert.equal(String(await collect(inParts(3, "a", "bc"))), "abc");
  const here = Buffer.from("here");
  const body: Body = { length: 4, drain: () => assert.fail("drained"), takeWhole: () => here };
  assert.equal(await collect(body), here);
  assert.equal(String(await collect({ ...inParts(1, "a"), takeWhole: () => null })), "a");
});

test("a body in memory is taken without a copy, but only where no room behind it is needed", async () => {
  const here = Buffer.from("here");
  assert.equal(await collect(wholeBody(here)), here);
  assert.equal(wholeBody(here).takeWhole?.(1), null);
});

test("a body of the wrong length is refused", async () => {
  await assert.rejects(collect(inParts(3, "ab", "cd")), /longer/);
  await assert.rejects(collect(inParts(3, "ab")), /too early/);
});
