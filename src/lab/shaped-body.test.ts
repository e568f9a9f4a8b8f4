import assert from "node:assert/strict";
import { test } from "node:test";
import type { RestResponse } from "../front/rest/http/exchange.ts";
import { shapedAnswer } from "./shaped-body.ts";

const TEXT = "x".repeat(1_000);
const ANSWER: RestResponse = { status: 200, headers: [], body: TEXT };

/** Sends an answer with this shape; returns the bytes that came, the pauses and the cuts. */
async function sent(endsAfter: number | null, bytesPerSecond: number | null) {
  const pauses: number[] = [];
  let cuts = 0;
  const shaping = {
    pause: async (ms: number) => void pauses.push(ms),
    cut: () => void cuts++,
  };
  const { body } = shapedAnswer(ANSWER, { endsAfter, bytesPerSecond }, shaping);
  assert.ok(body !== null && typeof body === "object" && "borrow" in body);
  let bytes = 0;
  for (let one = await body.borrow(64); one !== null; one = await body.borrow(64)) {
    bytes += one.parts.reduce((sum, part) => sum + part.length, 0);
    one.release();
  }
  return { bytes, pauses, cuts };
}

test("a slow body takes as long as its rate says", async () => {
  const { bytes, pauses, cuts } = await sent(null, 500);
  assert.equal(bytes, 1_000);
  assert.equal(cuts, 0);
  assert.equal(
    pauses.reduce((sum, ms) => sum + ms, 0),
    2_000,
  );
});

test("a truncated body is cut after its last byte", async () => {
  assert.deepEqual(await sent(300, null), { bytes: 300, pauses: [], cuts: 1 });
});
