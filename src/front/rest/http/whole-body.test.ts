import assert from "node:assert/strict";
import { test } from "node:test";
import { type Body, wholeBody } from "../../../base/bytes.ts";
import { Fault } from "../../../base/fault.ts";
import { MIB } from "../../../base/limits.ts";
import { readWholeBody } from "./whole-body.ts";

function refusedAs(code: string) {
  return (error: unknown) => error instanceof Fault && error.code === code;
}

test("parts are joined in order", async () => {
  const body: Body = {
    length: 6,
    async drain(take) {
      for (const part of ["a", "bcd", "ef"]) await take(Buffer.from(part));
    },
  };
  assert.equal(String(await readWholeBody(body, 6)), "abcdef");
  assert.equal((await readWholeBody(wholeBody(Buffer.alloc(0)), 6)).length, 0);
});

test("a body over the limit is refused unread", async () => {
  const body: Body = { length: 7, drain: () => assert.fail("was read") };
  await assert.rejects(readWholeBody(body, 6), refusedAs("RequestBodyTooLarge"));
});

test("bodies that would exceed the memory together are refused until others are done", async () => {
  let finish = () => {};
  const slow: Body = {
    length: 200 * MIB,
    drain: (take) =>
      new Promise((resolve) => {
        finish = () => {
          take(Buffer.alloc(200 * MIB));
          resolve();
        };
      }),
  };
  const small = wholeBody(Buffer.alloc(100 * MIB));
  const running = readWholeBody(slow, 1_000 * MIB);
  await assert.rejects(readWholeBody(small, 1_000 * MIB), refusedAs("ServerBusy"));
  finish();
  await running;
  assert.equal((await readWholeBody(small, 1_000 * MIB)).length, 100 * MIB);
});
