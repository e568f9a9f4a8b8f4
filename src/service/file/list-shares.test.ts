import assert from "node:assert/strict";
import { test } from "node:test";
import { slicesDuring } from "../../base/fair-queue.fixture.ts";
import { createShare } from "./create-share.ts";
import { deleteShare } from "./delete-share.ts";
import { Files } from "./files.fixture.ts";
import { type ListedShare, listShares, type SharePosition } from "./list-shares.ts";

const DAY_MS = 24 * 3_600_000;

test("a list has every deleted share once, however many had the same name", async () => {
  const files = await Files.open();
  for (let shares = 0; shares < 2_100; shares++) await deleteFor(files, 30);
  const found = await list(files);
  const versions = new Set(found.map(({ stamp }) => stamp));
  assert.equal(versions.size, 2_101);
  assert.deepEqual(
    found.map(({ deleted }) => deleted !== null),
    [...Array<boolean>(2_100).fill(true), false],
  );
});

test("expired shares that are not swept yet hide nothing that follows them", async () => {
  const files = await Files.open();
  for (let shares = 0; shares < 1_100; shares++) await deleteFor(files, 1);
  await deleteFor(files, 30);
  files.clock.advance(DAY_MS);
  assert.deepEqual(
    (await list(files)).map(({ deleted }) => deleted !== null),
    [true, false],
  );
});

/** Deletes the share and creates it again. */
async function deleteFor(files: Files, shareRetentionDays: number): Promise<void> {
  const settingsByAccount = new Map([["account", { shareRetentionDays }]]);
  const context = { ...files.context, settingsByAccount };
  await deleteShare(context, { ...files.share(), snapshots: "refuse" });
  await files.createShare();
}

/** Lists with pages smaller and larger than what one body looks at. */
async function list(files: Files): Promise<ListedShare[]> {
  const found: ListedShare[] = [];
  const { at, access } = files.share();
  let after: SharePosition | null = null;
  do {
    const pages = listShares(files.context, {
      account: at.account,
      access,
      prefix: "",
      after,
      resultsMax: 700,
      snapshots: false,
      deleted: true,
    });
    for await (const page of pages) {
      found.push(...page.shares);
      after = page.next;
    }
  } while (after !== null);
  return found;
}

test("a list of shares with much metadata takes many small bodies, and has each share once", async () => {
  const files = await Files.open();
  const metadata = [["name", "x".repeat(8_000)]] as const;
  for (let at = 0; at < 100; at++) {
    const use = files.share();
    await createShare(files.context, {
      ...use,
      at: { ...use.at, share: `share-${at}` },
      metadata,
      quotaGib: 1,
      tier: "Hot",
    });
  }
  const slices = await slicesDuring(async () => {
    const names = (await list(files)).map(({ name }) => name);
    assert.deepEqual([names.length, new Set(names).size], [101, 101]);
  });
  assert.ok(slices >= 4, `${slices} slices`);
});
