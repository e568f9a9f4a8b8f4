import assert from "node:assert/strict";
import { test } from "node:test";
import { SPACE } from "../../base/keys.ts";
import { deleteShare } from "./delete-share.ts";
import { Files } from "./files.fixture.ts";

const DAY_MS = 24 * 3_600_000;

test("a deleted share is removed when its time is over, however many others are retained", async () => {
  const files = await Files.open();
  const deleteFor = async (shareRetentionDays: number) => {
    const settingsByAccount = new Map([["account", { shareRetentionDays }]]);
    const context = { ...files.context, settingsByAccount };
    await deleteShare(context, { ...files.share(), snapshots: "refuse" });
    await files.createShare();
  };
  for (let shares = 0; shares < 300; shares++) await deleteFor(30);
  await deleteFor(1);
  files.clock.advance(DAY_MS);
  await files.sweep();
  assert.equal(await files.records([SPACE.deletedShare]), 300);
  files.clock.advance(30 * DAY_MS);
  await files.sweep();
  assert.equal(await files.records([SPACE.deletedShare]), 0);
});
