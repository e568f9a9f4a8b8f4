import assert from "node:assert/strict";
import { test } from "node:test";
import type { Schedule } from "../base/schedule.ts";
import { Background, BUSY_PAUSE_MS, IDLE_PAUSE_MS, SHORT_PAUSE_MS } from "./background.ts";

/** Stores the next callback until the test runs it. */
class ManualSchedule {
  #due: { callback: () => void; afterMs: number } | null = null;

  readonly schedule: Schedule = (callback, afterMs) => {
    assert.equal(this.#due, null, "one callback at a time");
    this.#due = { callback, afterMs };
    return {
      cancel: () => {
        this.#due = null;
      },
    };
  };

  get pauseMs(): number | null {
    return this.#due?.afterMs ?? null;
  }

  async run(): Promise<void> {
    const due = this.#due;
    this.#due = null;
    due?.callback();
    for (let round = 0; round < 10; round++) await undefined;
  }
}

const unexpected = (what: unknown) => assert.fail(String(what));

test("rounds follow closely while there is more to do, and are rare otherwise", async () => {
  const hand = new ManualSchedule();
  const left = [true, true, false];
  const background = new Background([async () => left.shift() ?? false], hand.schedule, unexpected);
  background.start();
  const pauses: (number | null)[] = [];
  for (let round = 0; round < 4; round++) {
    pauses.push(hand.pauseMs);
    await hand.run();
  }
  assert.deepEqual(pauses, [IDLE_PAUSE_MS, BUSY_PAUSE_MS, BUSY_PAUSE_MS, IDLE_PAUSE_MS]);
});

test("failed work is reported, delays no other work, and is retried later", async () => {
  const hand = new ManualSchedule();
  const errors: unknown[] = [];
  let others = 0;
  const fails = async () => {
    throw new Error("disk");
  };
  const counts = async () => {
    others++;
    return false;
  };
  const background = new Background([fails, counts], hand.schedule, (error) => errors.push(error));
  background.start();
  await hand.run();
  await hand.run();
  assert.equal(others, 2);
  assert.deepEqual(errors.map(String), ["Error: disk", "Error: disk"]);
  assert.equal(hand.pauseMs, IDLE_PAUSE_MS);
});

test("stop waits for the current round and starts no other", async () => {
  const hand = new ManualSchedule();
  let finish: (isMore: boolean) => void = unexpected;
  let rounds = 0;
  const round = () => {
    rounds++;
    return new Promise<boolean>((resolve) => {
      finish = resolve;
    });
  };
  const background = new Background([round, round], hand.schedule, unexpected);
  background.start();
  await hand.run();
  let stopped = false;
  const stopping = background.stop().then(() => {
    stopped = true;
  });
  await undefined;
  assert.equal(stopped, false);
  finish(true);
  await stopping;
  assert.equal(rounds, 1);
  assert.equal(hand.pauseMs, null);
});

test("when space becomes short a round starts soon, and more follow quickly until the shortage ends", async () => {
  const hand = new ManualSchedule();
  const background = new Background([async () => false], hand.schedule, unexpected);
  background.start();
  background.spaceIs(true);
  const pauses = [hand.pauseMs];
  await hand.run();
  pauses.push(hand.pauseMs);
  background.spaceIs(false);
  await hand.run();
  pauses.push(hand.pauseMs);
  assert.deepEqual(pauses, [BUSY_PAUSE_MS, SHORT_PAUSE_MS, IDLE_PAUSE_MS]);
});

test("catching up runs rounds without a pause, and lets others run between them", async () => {
  const hand = new ManualSchedule();
  const done: string[] = [];
  const left = [true, true, false];
  const round = async () => {
    done.push("round");
    setImmediate(() => done.push("others"));
    return left.shift() ?? false;
  };
  const background = new Background([round], hand.schedule, unexpected);
  background.start();
  await background.catchUp();
  assert.deepEqual(done, ["round", "others", "round", "others", "round"]);
  await hand.run();
  assert.equal(hand.pauseMs, IDLE_PAUSE_MS);
});
