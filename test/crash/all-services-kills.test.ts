import assert from "node:assert/strict";
import { test } from "node:test";
import { killAll } from "./kill-all.ts";

const ROUNDS = 5;

test(`${ROUNDS} kills lose no write that any service or SMB has acknowledged`, async (t) => {
  const { kills, acknowledged, lost, failedStarts } = await killAll(ROUNDS, () => {});
  assert.deepEqual({ kills, lost, failedStarts }, { kills: ROUNDS, lost: [], failedStarts: [] });
  t.diagnostic(`${acknowledged} acknowledged writes survived ${ROUNDS} kills`);
});
