import assert from "node:assert/strict";
import { test } from "node:test";
import { ended as endedAtOnce, type LabUnderTest, labUnderTest, settled } from "./lab.fixture.ts";

const DONE = { status: 201, headers: [], body: null };

/** A lab in which requests wait at two rules: one at the first, two at the second. */
async function threeWaiting(): Promise<LabUnderTest & { ended: () => number }> {
  const under = labUnderTest();
  const { lab, put } = under;
  let ended = 0;
  const hold = { hold: true, at: "arrival", timeout: "1m" };
  lab.addRule(hold);
  lab.addRule({ ...hold, times: 2 });
  for (let at = 0; at < 3; at++) {
    void put(async () => {
      ended++;
      return DONE;
    });
  }
  await settled();
  return { ...under, ended: () => ended };
}

test("held requests are released by rule, one by one, or all", async () => {
  const { lab, ended } = await threeWaiting();
  assert.deepEqual(
    lab.room.shown.map(({ id, rule, at }) => [id, rule, at]),
    [
      [1, 1, "arrival"],
      [2, 2, "arrival"],
      [3, 2, "arrival"],
    ],
  );
  assert.equal(lab.room.release({ id: 3 }), 1);
  assert.equal(lab.room.release({ id: 3 }), 0);
  assert.equal(lab.room.release({ id: 2, rule: 1 }), 0);
  assert.equal(lab.room.release({ rule: 2 }), 1);
  assert.equal(lab.room.release(), 1);
  await settled();
  assert.equal(ended(), 3);
  assert.deepEqual(lab.room.shown, []);
});

test("a held request goes on when its time is over, with a note at the rule", async () => {
  const { lab, clock, time, ended } = await threeWaiting();
  clock.advance(59_999);
  await time.pass(59_999);
  assert.equal(ended(), 0);
  assert.equal(lab.room.shown[0]?.waitedMs, 59_999);
  await time.pass(1);
  assert.equal(ended(), 3);
  const [first] = lab.shownRules;
  assert.deepEqual(first?.notes, ["request 1 went on: nobody released it in time"]);
});

test("a released request leaves no note and no timer", async () => {
  const { lab, time } = await threeWaiting();
  lab.room.release();
  await settled();
  assert.deepEqual(time.leftMs, []);
  assert.deepEqual(lab.shownRules[0]?.notes, []);
});

test("waiting for held requests counts those of the rule, and gives up in time", async () => {
  const { lab, time } = await threeWaiting();
  await endedAtOnce(lab.room.reached(2, 2, 1_000));
  await endedAtOnce(lab.room.reached(null, 3, 1_000));
  const late = lab.room.reached(1, 2, 1_000);
  late.catch(() => {});
  await time.pass(1_000);
  await assert.rejects(endedAtOnce(late), /3 requests wait, and not the 2 at rule 1/);
});

test("waiting for held requests ends when they come, and when the server stops", async () => {
  const { lab, put, time } = await threeWaiting();
  const reached = lab.room.reached(null, 4, 1_000);
  lab.addRule({ hold: true, at: "arrival" });
  void put(async () => DONE);
  await endedAtOnce(reached);
  const never = lab.room.reached(null, 5, 1_000);
  lab.close();
  await assert.rejects(endedAtOnce(never), /0 requests wait, and not the 5/);
  assert.deepEqual(time.leftMs, []);
});
