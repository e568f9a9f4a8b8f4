import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { cutPower } from "./power-cuts.ts";
import { skipWithoutPowerDisk } from "./power-disk.ts";

const CUTS = 3;
const skip = skipWithoutPowerDisk() ?? false;

test(`${CUTS} power cuts lose no acknowledged write`, { skip }, async (t) => {
  const seed = randomInt(2 ** 40);
  const lines: string[] = [];
  const tell = (line: string) => lines.push(line);
  const { cuts, lost, failedStarts } = await cutPower({ cuts: CUTS, seed, syncs: "honest", tell });
  const none = { cuts: CUTS, lost: [], failedStarts: [] };
  assert.deepEqual({ cuts, lost, failedStarts }, none, lines.join("\n"));
  t.diagnostic(lines.join("; "));
});

test("the same cuts lose data on a disk whose syncs do nothing", { skip }, async () => {
  const asked = { cuts: 3, seed: randomInt(2 ** 40), syncs: "ignored", tell: () => {} } as const;
  const { lost, failedStarts } = await cutPower(asked);
  assert.notEqual(lost.length + failedStarts.length, 0);
});
