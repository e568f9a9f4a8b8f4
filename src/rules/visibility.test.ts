import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isExpired,
  judgeByReceipt,
  judgeExpiry,
  judgeFirstSlot,
  judgeLaterSlot,
} from "./visibility.ts";

const NOW = 1_700_000_000_000;
const LIVING = [{ expiresMs: null }, { expiresMs: NOW + 1 }, { expiresMs: NOW + 604_800_000 }];
const GONE = [{ expiresMs: NOW }, { expiresMs: NOW - 1 }, { expiresMs: 0 }];

test("a message is gone from the moment it expires, unless it never does", () => {
  for (const message of LIVING) assert.equal(isExpired(message, NOW), false);
  for (const message of GONE) assert.equal(isExpired(message, NOW), true);
});

test("only the latest receipt of an existing message is valid", () => {
  for (const message of LIVING) {
    assert.equal(judgeByReceipt(message, true, NOW), null);
    assert.equal(judgeByReceipt(message, false, NOW), "PopReceiptMismatch");
  }
  for (const message of [null, ...GONE]) {
    assert.equal(judgeByReceipt(message, true, NOW), "MessageNotFound");
    assert.equal(judgeByReceipt(message, false, NOW), "MessageNotFound");
  }
});

test("a message lives for ever, or until a date of four digits", () => {
  for (const [text, code] of [
    [null, null],
    ["9999-12-31T23:59:59Z", null],
    ["9999-12-31T23:59:59.001Z", "OutOfRangeQueryParameterValue"],
    ["+010000-01-01T00:00:00Z", "OutOfRangeQueryParameterValue"],
  ] as const) {
    assert.equal(judgeExpiry(text === null ? null : Date.parse(text)), code);
  }
});

test("a new message becomes visible before it expires, an updated one no later than that", () => {
  const expiring = { expiresMs: NOW };
  const refused = "InvalidQueryParameterValue";
  for (const [visibleAtMs, first, later] of [
    [NOW - 1, null, null],
    [NOW, refused, null],
    [NOW + 1, refused, refused],
  ] as const) {
    assert.equal(judgeFirstSlot(visibleAtMs, expiring), first);
    assert.equal(judgeLaterSlot(visibleAtMs, expiring), later);
    assert.equal(judgeFirstSlot(visibleAtMs, { expiresMs: null }), null);
    assert.equal(judgeLaterSlot(visibleAtMs, { expiresMs: null }), null);
  }
});
