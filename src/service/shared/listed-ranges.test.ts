import assert from "node:assert/strict";
import { test } from "node:test";
import { slicesDuring } from "../../base/fair-queue.fixture.ts";
import { Fault } from "../../base/fault.ts";
import type { Store, View } from "../../store/store.ts";
import { type ListedRanges, listRangesOf } from "./listed-ranges.ts";

const STEP = 4;

interface Listed {
  readonly etag: bigint;
}

/** Lists `count` written bytes, one in four; a step finds four of them. */
function pieces(
  etagOf: (view: View) => bigint,
  count: number,
  resultsMax: number,
): Promise<ListedRanges<Listed>> {
  let bodies = 0;
  const store = { read: async (body) => body({ now: () => bodies++ } as View) } as Store;
  return listRangesOf<Listed>(store, {
    resultsMax,
    look(view, start, limit) {
      const first = start ?? 0;
      const last = Math.min(first + Math.min(STEP, limit), count);
      const found = Array.from({ length: last - first }, (_, at) => {
        const offset = (first + at) * STEP;
        return { start: offset, end: offset + 1, isCleared: false };
      });
      return { of: { etag: etagOf(view) }, more: { found, next: last < count ? last : null } };
    },
  });
}

const still = () => 1n;
const moving = (view: View) => BigInt(view.now());

test("ranges that do not change are listed in steps, all of them or up to the limit", async () => {
  assert.equal((await pieces(still, 100, Number.POSITIVE_INFINITY)).ranges.length, 100);
  const page = await pieces(still, 100, 10);
  assert.deepEqual([page.ranges.length, page.next], [10, 10]);
});

test("a listing yields between two steps", async () => {
  const slices = await slicesDuring(() => pieces(still, 100, Number.POSITIVE_INFINITY));
  assert.ok(slices >= 100 / STEP - 1, `${slices} slices`);
});

test("ranges that keep changing are listed in one body", async () => {
  assert.equal((await pieces(moving, 40, Number.POSITIVE_INFINITY)).ranges.length, 40);
});

test("ranges that keep changing are refused for now if one body cannot list them", async () => {
  await assert.rejects(pieces(moving, 41, Number.POSITIVE_INFINITY), (error) => {
    return error instanceof Fault && error.code === "ServerBusy";
  });
});
