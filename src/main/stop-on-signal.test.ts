import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { stopOnSignal } from "./stop-on-signal.ts";

/** Lets settled promises run their callbacks. */
async function runCallbacks(): Promise<void> {
  for (let round = 0; round < 5; round++) await undefined;
}

function stopping(outcome: Promise<void>) {
  const source = new EventEmitter();
  const exits: number[] = [];
  let stops = 0;
  const stop = () => {
    stops++;
    return outcome;
  };
  const signal = stopOnSignal(source, stop, (code) => exits.push(code));
  return { source, signal, exits, stops: () => stops };
}

test("a signal stops the server, and the process exits with 0 once it has stopped", async () => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGBREAK"]) {
    let stopped = () => {};
    const { source, exits } = stopping(
      new Promise((resolve) => {
        stopped = resolve;
      }),
    );
    source.emit(signal);
    await runCallbacks();
    assert.deepEqual(exits, []);
    stopped();
    await runCallbacks();
    assert.deepEqual(exits, [0]);
  }
});

test("a shutdown message from the parent process counts as a signal, others do not", async () => {
  const { source, exits } = stopping(Promise.resolve());
  source.emit("message", "hello");
  await runCallbacks();
  assert.deepEqual(exits, []);
  source.emit("message", "shutdown");
  await runCallbacks();
  assert.deepEqual(exits, [0]);
});

test("a second signal exits at once", async () => {
  const { source, exits, stops } = stopping(new Promise(() => {}));
  source.emit("SIGTERM");
  source.emit("SIGINT");
  assert.deepEqual(exits, [1]);
  assert.equal(stops(), 1);
});

test("a server that fails to stop exits with 1", async () => {
  const { source, exits } = stopping(Promise.reject(new Error("disk")));
  source.emit("SIGTERM");
  await runCallbacks();
  assert.deepEqual(exits, [1]);
});

test("the returned function does what a signal does", async () => {
  const { signal, exits, stops } = stopping(Promise.resolve());
  signal();
  signal();
  await runCallbacks();
  assert.deepEqual(exits, [1, 0], "the second exits at once");
  assert.equal(stops(), 1);
});
