import assert from "node:assert/strict";
import { test } from "node:test";
import { CREDITS_MAX, CreditWindow } from "./credits.ts";

test("a client begins with one id, and gets at least one for each it uses", () => {
  const window = new CreditWindow();
  assert.equal(window.use(1, 1), false);
  assert.equal(window.use(0, 1), true);
  assert.equal(window.use(1, 1), false);
  assert.equal(window.grant(0), 1);
  assert.equal(window.use(1, 1), true);
});

test("ids may come in any order, each once", () => {
  const window = new CreditWindow();
  window.grant(10);
  assert.equal(window.use(5, 3), true);
  for (const id of [5, 6, 7]) assert.equal(window.use(id, 1), false);
  assert.equal(window.use(4, 2), false);
  assert.equal(window.use(0, 5), true);
  assert.equal(window.use(8, 3), true);
  assert.equal(window.use(8, 1), false);
});

test("credits are limited, and a skipped id stops the client", () => {
  const window = new CreditWindow();
  assert.equal(window.grant(100_000), CREDITS_MAX - 1);
  assert.equal(window.grant(1), 0);
  assert.equal(window.use(1, CREDITS_MAX - 1), true);
  assert.equal(window.grant(1), 0);
  assert.equal(window.use(0, 1), true);
  assert.equal(window.grant(50_000), CREDITS_MAX);
});
