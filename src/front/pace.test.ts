import assert from "node:assert/strict";
import { test } from "node:test";
import { Pace } from "./pace.ts";

class Fake {
  waiting = true;
  moved = 0;
  cuts = 0;
  cut(): void {
    this.cuts++;
  }
}

function watched(): { pace: Pace; transfer: Fake; check: (times: number) => void } {
  const pace = new Pace({ checks: 3, bytesMin: 100 });
  const transfer = new Fake();
  pace.watch(transfer);
  const check = (times: number) => {
    for (let time = 0; time < times; time++) pace.check();
  };
  return { pace, transfer, check };
}

test("a stalled transfer is cut once, and not too early", () => {
  const { transfer, check } = watched();
  check(2);
  assert.equal(transfer.cuts, 0);
  check(1);
  assert.equal(transfer.cuts, 1);
  check(10);
  assert.equal(transfer.cuts, 1);
});

test("a transfer below the minimum rate is cut", () => {
  const { transfer, check } = watched();
  for (let step = 0; step < 3; step++) {
    transfer.moved += 33;
    check(1);
  }
  assert.equal(transfer.cuts, 1);
});

test("a transfer that makes progress is never cut, however long it takes", () => {
  const { transfer, check } = watched();
  for (let step = 0; step < 10_000; step++) {
    transfer.moved += 34;
    check(1);
  }
  assert.equal(transfer.cuts, 0);
});

test("earlier progress does not save a transfer that stalls", () => {
  const { transfer, check } = watched();
  transfer.moved = 1_000_000;
  check(3);
  assert.equal(transfer.cuts, 0);
  check(3);
  assert.equal(transfer.cuts, 1);
});

test("time in which the client waits for us does not count", () => {
  const { transfer, check } = watched();
  transfer.waiting = false;
  check(100);
  transfer.waiting = true;
  check(2);
  assert.equal(transfer.cuts, 0);
  check(1);
  assert.equal(transfer.cuts, 1);
});

test("a finished transfer is not checked any more", () => {
  const { pace, transfer, check } = watched();
  pace.forget(transfer);
  check(10);
  assert.equal(transfer.cuts, 0);
});
