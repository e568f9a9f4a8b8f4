import assert from "node:assert/strict";
import { test } from "node:test";
import { type Body, wholeBody } from "../../../base/bytes.ts";
import { Fault } from "../../../base/fault.ts";
import { MIB } from "../../../base/limits.ts";
import { readWholeBody, wholeBodyBudget } from "./whole-body.ts";

/** Reads a body like the requests of one server. */
function reader() {
  const wholeBodies = wholeBodyBudget();
  return (body: Body, bytesMax: number) => readWholeBody({ body, wholeBodies }, bytesMax);
}

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
  const read = reader();
  assert.equal(String(await read(body, 6)), "abcdef");
  assert.equal((await read(wholeBody(Buffer.alloc(0)), 6)).length, 0);
});

test("a body over the limit is refused unread", async () => {
  const body: Body = { length: 7, drain: () => assert.fail("was read") };
  await assert.rejects(reader()(body, 6), refusedAs("RequestBodyTooLarge"));
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
  const read = reader();
  const running = read(slow, 1_000 * MIB);
  await assert.rejects(read(small, 1_000 * MIB), refusedAs("ServerBusy"));
  const other = reader();
  assert.equal((await other(small, 1_000 * MIB)).length, 100 * MIB, "on another server");
  finish();
  await running;
  assert.equal((await read(small, 1_000 * MIB)).length, 100 * MIB);
});
