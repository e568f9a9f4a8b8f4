import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../base/clock.ts";
import { MemoryStore } from "../engine/memory/store.ts";
import { altered } from "../store/altered-store.fixture.ts";
import { StoreError } from "../store/store.ts";
import { endEarlierRun } from "./end-earlier-run.ts";
import { memoryData } from "./open-data.ts";
import { StartError } from "./start-error.ts";

/** Data whose writes fail. */
function dataThatFails(error: Error) {
  const store = new MemoryStore(new ManualClock(1_700_000_000_000));
  return memoryData(altered(store, { transact: () => Promise.reject(error) }), null);
}

test("a start without room for its first write says what to do", async () => {
  const full = new StoreError("full", "no space is left");
  await assert.rejects(
    endEarlierRun(dataThatFails(full)),
    (error) => error instanceof StartError && /Free a few MiB/.test(error.message),
  );
  const broken = new StoreError("broken", "it broke");
  await assert.rejects(endEarlierRun(dataThatFails(broken)), broken);
});
