import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreError } from "../store/store.ts";
import {
  LocalTasks,
  NO_TASK,
  progressTask,
  TASK_FAILED,
  TASK_FOUND_DAMAGE,
} from "./local-tasks.ts";
import { StartError } from "./start-error.ts";

/** Tasks that count, the door to them, and timers that a test runs by hand. */
function setup(next = async (): Promise<string> => "more") {
  const timers = new Set<() => void>();
  const tasks = new LocalTasks((callback) => {
    timers.add(callback);
    return { cancel: () => timers.delete(callback) };
  });
  let closed = 0;
  const close = () => {
    closed++;
  };
  const door = tasks.door(async () => ({ next, close }));
  const ask = (asked: object) => door(Buffer.from(JSON.stringify(asked)));
  return { tasks, timers, ask, closed: () => closed };
}

test("a task continues on each request, and ends when the command ends it", async () => {
  const { ask, closed } = setup();
  const { body: id } = await ask({ begin: null });
  assert.deepEqual(await ask({ next: id }), { status: 200, body: "more" });
  assert.deepEqual(await ask({ next: id }), { status: 200, body: "more" });
  await ask({ end: id });
  await ask({ end: id });
  assert.equal(closed(), 1);
  assert.equal((await ask({ next: id })).status, NO_TASK);
});

test("a task whose command was killed ends by itself, and so do all at a stop", async () => {
  const { tasks, timers, ask, closed } = setup();
  const { body: id } = await ask({ begin: null });
  await ask({ next: id });
  assert.equal(timers.size, 1);
  for (const timer of timers) timer();
  assert.equal(closed(), 1);
  assert.equal((await ask({ next: id })).status, NO_TASK);
  await ask({ begin: null });
  await tasks.stop();
  assert.equal(closed(), 2);
});

test("a few tasks run at a time, and the next one is refused with the reason", async () => {
  const { ask } = setup();
  const answers = [];
  for (let count = 0; count < 5; count++) answers.push((await ask({ begin: null })).status);
  assert.deepEqual(answers, [200, 200, 200, 200, 429]);
});

test("a task that fails is ended, and its command learns why", async () => {
  for (const [error, status] of [
    [new StartError("Do this."), TASK_FAILED],
    [new StoreError("damaged", "broken bytes"), TASK_FOUND_DAMAGE],
  ] as const) {
    const { ask, closed } = setup(async () => {
      throw error;
    });
    const { body: id } = await ask({ begin: null });
    assert.deepEqual(await ask({ next: id }), { status, body: error.message });
    assert.equal(closed(), 1);
  }
});

test("work that yields its progress tells it from time to time, and then its result", async () => {
  let isEnded = false;
  async function* work() {
    try {
      for (let step = 1; step <= 5; step++) yield step;
      return "all";
    } finally {
      isEnded = true;
    }
  }
  let nowMs = 0;
  const task = progressTask(work(), () => {
    nowMs += 100;
    return nowMs;
  });
  assert.equal(await task.next(), '{"progress":3}');
  assert.equal(await task.next(), '{"done":"all"}');
  const other = progressTask(work(), () => (nowMs += 1000));
  isEnded = false;
  await other.next();
  await other.close();
  assert.equal(isEnded, true, "closing runs its clean-up");
});
