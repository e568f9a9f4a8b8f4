import assert from "node:assert/strict";
import { test } from "node:test";
import { newGuid, parseGuid, timedGuid } from "./ids.ts";

test("a timed GUID sorts by its time and retains the random part", () => {
  const times = [0, 1, 0xffff, 0x10000, 1_700_000_000_000, 2 ** 48 - 1];
  const ids = times.map((time) => timedGuid(time, newGuid()));
  assert.deepEqual([...ids].sort(), ids);
  for (const id of ids) {
    assert.equal(parseGuid(id), id);
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
  const random = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee";
  assert.equal(timedGuid(1_700_000_000_000, random), "018bcfe5-6800-7ccc-8ddd-eeeeeeeeeeee");
});
