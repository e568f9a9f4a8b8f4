import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bytes } from "../../base/bytes.ts";
import { PushedBody } from "./pushed-body.ts";

const part = (text: string) => Buffer.from(text);

/** Takes each part when the test lets it. */
function slowTaker() {
  const taken: string[] = [];
  const ends: (() => void)[] = [];
  const take = (bytes: Bytes) => {
    taken.push(bytes.toString());
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  return { taken, take, goOn: () => ends.shift()?.() };
}

test("parts are taken at once and in order, and the body ends with the last", async () => {
  const body = new PushedBody(5);
  const taken: string[] = [];
  const drained = body.drain((bytes) => void taken.push(bytes.toString()));
  assert.equal(body.push(part("ab")), undefined);
  assert.equal(body.push(part("cde")), undefined);
  assert.deepEqual(taken, ["ab", "cde"]);
  await drained;
});

test("a part that arrives before the drain, or while another is taken, waits", async () => {
  const body = new PushedBody(3);
  const early = body.push(part("a"));
  const { taken, take, goOn } = slowTaker();
  const drained = body.drain(take);
  const next = body.push(part("b"));
  goOn();
  await Promise.resolve();
  assert.deepEqual(taken, ["a"]);
  goOn();
  await early;
  const last = body.push(part("c"));
  goOn();
  await next;
  goOn();
  await Promise.all([last, drained]);
  assert.deepEqual(taken, ["a", "b", "c"]);
});

test("a taker that fails gets no more parts, and is not waited for", async () => {
  for (const fail of [() => Promise.reject(new Error("full")), throwFull]) {
    const body = new PushedBody(9);
    let asked = 0;
    const drained = body.drain(() => {
      asked++;
      return fail();
    });
    drained.catch(() => {});
    await body.push(part("abc"));
    assert.equal(body.push(part("def")), undefined);
    await assert.rejects(drained, /full/);
    assert.equal(asked, 1);
  }
});

test("a body that ends early fails, but not while a part is being taken", async () => {
  const body = new PushedBody(9);
  const { taken, take, goOn } = slowTaker();
  const drained = body.drain(take);
  let isOver = false;
  drained.catch(() => {
    isOver = true;
  });
  const pushed = body.push(part("abc"));
  body.stop(new Error("gone"));
  await Promise.resolve();
  assert.equal(isOver, false);
  goOn();
  await pushed;
  await assert.rejects(drained, /gone/);
  assert.deepEqual(taken, ["abc"]);
});

test("a body that is never drained is not waited for", async () => {
  const body = new PushedBody(9);
  const early = body.push(part("abc"));
  body.stop(new Error("refused"));
  await early;
  await Promise.resolve();
  assert.equal(body.push(part("def")), undefined);
});

function throwFull(): never {
  throw new Error("full");
}
