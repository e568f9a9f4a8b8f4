import assert from "node:assert/strict";
import { test } from "node:test";
import { linearize, type Model } from "./linearize.ts";
import type { Operation } from "./operation.ts";

type Asked = { readonly set: number } | "get";

/** A register with a number. A set is answered with 0, a get with the number. */
const REGISTER: Model<number, Asked, number> = {
  initial: 0,
  steps(state, { asked, answer }) {
    if (asked === "get") return answer === null || answer === state ? [state] : [];
    return [asked.set];
  },
  identify: String,
};

function set(value: number, invoked: number, returned: number | null): Operation<Asked, number> {
  const answer = returned === null ? null : 0;
  const returns = returned ?? Number.POSITIVE_INFINITY;
  return { client: 1, key: "x", asked: { set: value }, answer, invoked, returned: returns };
}

function get(value: number, invoked: number, returned: number): Operation<Asked, number> {
  return { client: 2, key: "x", asked: "get", answer: value, invoked, returned };
}

function verdict(...history: Operation<Asked, number>[]): string {
  return linearize(REGISTER, history, 1_000).kind;
}

test("an acknowledged write is seen by every later read", () => {
  assert.equal(verdict(set(1, 0, 1), get(1, 2, 3)), "explained");
  assert.equal(verdict(set(1, 0, 1), get(0, 2, 3)), "unexplained");
});

test("concurrent operations may have happened in either order", () => {
  assert.equal(verdict(set(1, 0, 3), get(0, 1, 2)), "explained");
  assert.equal(verdict(set(1, 0, 3), get(1, 1, 2)), "explained");
  assert.equal(verdict(set(1, 0, 9), get(1, 1, 2), get(0, 3, 4)), "unexplained");
});

test("two readers agree on the order of two writes", () => {
  const writes = [set(1, 0, 9), set(2, 1, 10)];
  assert.equal(verdict(...writes, get(1, 2, 3), get(2, 4, 5)), "explained");
  assert.equal(verdict(...writes, get(2, 2, 3), get(1, 4, 5)), "explained");
  assert.equal(verdict(...writes, get(1, 2, 3), get(2, 4, 5), get(1, 6, 7)), "unexplained");
});

test("an unanswered operation may have happened late, or never, but not early or twice", () => {
  assert.equal(verdict(set(1, 0, null), get(0, 1, 2), get(1, 3, 4)), "explained");
  assert.equal(verdict(set(1, 0, null), get(0, 1, 2)), "explained");
  assert.equal(verdict(get(1, 0, 1), set(1, 2, null)), "unexplained");
  assert.equal(verdict(set(1, 0, null), get(1, 1, 2), set(2, 3, 4), get(1, 5, 6)), "unexplained");
});

test("the longest explanation is shown, with the operations that do not fit after it", () => {
  const wrong = get(7, 4, 5);
  const found = linearize(REGISTER, [set(1, 0, 1), get(1, 2, 3), wrong], 1_000);
  assert.deepEqual(found, {
    kind: "unexplained",
    dead: { explained: 2, state: 1, next: [wrong] },
  });
});

test("a search that would take too long is given up", () => {
  const writes = Array.from({ length: 16 }, (_, at) => set(at + 1, at, 100 + at));
  const history = [...writes, get(99, 200, 201)];
  assert.equal(linearize(REGISTER, history, 1_000).kind, "undecided");
});
