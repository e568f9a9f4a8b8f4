import assert from "node:assert/strict";
import { test } from "node:test";
import { REHYDRATE_HIGH_MS, REHYDRATE_STANDARD_MS } from "../base/limits.ts";
import {
  judgeByTier,
  judgeCopyFromArchive,
  judgeTierOfPast,
  type StoredTier,
  stepTier,
  storedTier,
  TIERS,
  tierAsOf,
  tierOnUpload,
  tierStatus,
} from "./tier.ts";

const NOW = 1_700_000_000_000;
const archived = storedTier("Archive", NOW);

function moved(
  from: StoredTier | null,
  tier: StoredTier["tier"],
  priority: "Standard" | "High" | null = null,
  now = NOW,
): StoredTier {
  const { refused, stored } = stepTier(from, { tier, priority }, now);
  assert.equal(refused, null);
  return stored as StoredTier;
}

test("a blob is hot until a tier is set", () => {
  assert.deepEqual(tierStatus(null, NOW), { tier: "Hot", changedMs: null, rehydration: null });
  assert.equal(judgeByTier(null, NOW), null);
});

test("between online tiers a blob moves at once", () => {
  for (const from of TIERS) {
    for (const to of TIERS) {
      if (from === "Archive" && to !== "Archive") continue;
      const found = tierStatus(moved(storedTier(from, NOW - 5), to), NOW);
      assert.deepEqual(found, { tier: to, changedMs: NOW, rehydration: null });
    }
  }
});

test("rehydration takes hours, and then ends by itself", () => {
  for (const [priority, lasts] of [
    [null, REHYDRATE_STANDARD_MS],
    ["Standard", REHYDRATE_STANDARD_MS],
    ["High", REHYDRATE_HIGH_MS],
  ] as const) {
    const moving = moved(archived, "Cool", priority);
    assert.equal(tierStatus(moving, NOW + lasts - 1).tier, "Archive");
    assert.equal(judgeByTier(moving, NOW + lasts - 1), "BlobBeingRehydrated");
    const there = { tier: "Cool", changedMs: NOW + lasts, rehydration: null };
    assert.deepEqual(tierStatus(moving, NOW + lasts), there);
    assert.equal(judgeByTier(moving, NOW + lasts), null);
  }
  assert.equal(judgeByTier(archived, NOW), "BlobArchived");
});

test("rehydration can be sped up, but neither slowed down nor given another target", () => {
  const moving = moved(archived, "Hot", "Standard");
  const hurried = moved(moving, "Hot", "High", NOW + 1000);
  assert.equal(tierStatus(hurried, NOW + 1000 + REHYDRATE_HIGH_MS).tier, "Hot");
  const late = NOW + REHYDRATE_STANDARD_MS - 5;
  assert.equal(tierStatus(moved(moving, "Hot", "High", late), late + 5).tier, "Hot");
  assert.deepEqual(moved(moving, "Hot", null, NOW + 1000), moving);
  assert.deepEqual(moved(hurried, "Hot", null, NOW + 2000), hurried);
  for (const [from, tier, priority] of [
    [hurried, "Hot", "Standard"],
    [moving, "Cool", null],
    [moving, "Archive", null],
  ] as const) {
    assert.equal(stepTier(from, { tier, priority }, NOW + 2000).refused, "BlobBeingRehydrated");
  }
});

test("an upload has the tier it names, or that of the blob it replaces", () => {
  const cool = storedTier("Cool", NOW - 5);
  assert.deepEqual(tierOnUpload("Cold", cool, NOW), storedTier("Cold", NOW));
  assert.deepEqual(tierOnUpload(null, cool, NOW), cool);
  assert.equal(tierOnUpload(null, null, NOW), null);
  const ready = NOW + REHYDRATE_HIGH_MS;
  const out = moved(archived, "Hot", "High");
  assert.deepEqual(tierOnUpload(null, out, ready + 5), storedTier("Hot", ready));
});

test("a blob that is being rehydrated stays archived when it is no longer current", () => {
  assert.deepEqual(tierAsOf(moved(archived, "Hot"), NOW + 5), archived);
  for (const tier of TIERS) {
    const isOut = tier !== "Archive";
    assert.equal(judgeTierOfPast(archived, tier, NOW), isOut ? "BlobArchived" : null);
    assert.equal(judgeTierOfPast(null, tier, NOW), null);
    assert.equal(judgeCopyFromArchive(tier), isOut ? null : "BlobArchived");
  }
  assert.equal(judgeCopyFromArchive(null), "BlobArchived");
});
