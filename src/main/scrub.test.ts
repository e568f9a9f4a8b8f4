import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../base/clock.ts";
import { key, SPACE } from "../base/keys.ts";
import { ManualTimers } from "../cluster/front-ends.fixture.ts";
import { MemoryStore } from "../engine/memory/store.ts";
import type { Contents } from "../store/contents.ts";
import { Scrub } from "./scrub.ts";

const MINUTE_MS = 60_000;
/** More than one read of the verifier. */
const RECORDS = 2_000;

/** A scrub of some records, which this process reads as long as `state` says so. */
async function scrubbed() {
  const clock = new ManualClock(0);
  const timers = new ManualTimers(clock);
  const records = new MemoryStore(clock);
  await records.transact((tx) => {
    for (let at = 0; at < RECORDS; at++) tx.set(key(SPACE.engine, at), Buffer.from("x"));
  });
  const state = { isOurs: false, reads: 0, onRead: () => {} };
  const store = {
    read: ((body) => {
      state.reads++;
      state.onRead();
      return records.read(body);
    }) as MemoryStore["read"],
  } as MemoryStore;
  const lines: string[] = [];
  const scrub = new Scrub({
    store,
    contents: {} as Contents,
    schedule: timers.schedule,
    mibPerSecond: 1_000,
    isOurs: () => state.isOurs,
    tell: (line) => lines.push(line),
    onError: (error) => assert.fail(String(error)),
  });
  /** Lets a minute pass, and all that is due then. */
  const pass = async () => {
    clock.advance(MINUTE_MS);
    await timers.runDue();
    for (let round = 0; round < 100; round++) await new Promise(setImmediate);
  };
  return { scrub, state, lines, pass };
}

test("only the front end that leads reads the data", async (t) => {
  const { scrub, state, lines, pass } = await scrubbed();
  scrub.start();
  t.after(() => scrub.stop());
  await pass();
  assert.equal(state.reads, 0);
  state.isOurs = true;
  await pass();
  assert.equal(lines.length, 1);
});

test("a round that was interrupted begins again as soon as it can", async (t) => {
  const { scrub, state, lines, pass } = await scrubbed();
  state.isOurs = true;
  state.onRead = () => {
    state.isOurs = false;
  };
  scrub.start();
  t.after(() => scrub.stop());
  await pass();
  assert.deepEqual(lines, []);
  state.onRead = () => {};
  state.isOurs = true;
  await pass();
  assert.equal(lines.length, 1);
  const { reads } = state;
  await pass();
  assert.equal(state.reads, reads, "the next round begins a day later");
});
