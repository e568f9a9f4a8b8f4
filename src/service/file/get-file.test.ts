import assert from "node:assert/strict";
import { test } from "node:test";
import type { Stamp } from "../../base/stamp.ts";
import { readWhole } from "../../content/whole-reading.ts";
import { LateStore } from "../../store/late-store.fixture.ts";
import { Files } from "./files.fixture.ts";
import { getFile } from "./get-file.ts";
import { listRanges } from "./list-ranges.ts";
import { snapshotShare } from "./snapshot-share.ts";

/** More pieces than one body looks up. */
const PIECES = 2_500;

/** Writes that leave more pieces than one body looks up, but few enough to be replaced in place. */
const REPLACED = 400;

/** A file in which every other byte was written separately. */
async function inPieces(): Promise<Files> {
  const files = await Files.open();
  await files.create("file", "a".repeat(2 * PIECES));
  for (let piece = 0; piece < PIECES; piece++) await files.write("file", 2 * piece, "b");
  return files;
}

function whole(files: Files, snapshot: Stamp | null = null) {
  return { ...files.at("file", snapshot), range: null, md5: false };
}

test("a file in very many pieces is read as it was when it was opened", async () => {
  const files = await inPieces();
  // Without a snapshot, which would preserve the pieces. The write is at the end, which is looked
  // up last.
  const { reading } = await getFile(files.context, whole(files));
  await files.write("file", 2 * PIECES - 2, "cc");
  assert.equal((await readWhole(reading)).toString(), "ba".repeat(PIECES));
  assert.equal(await files.text("file"), `${"ba".repeat(PIECES - 1)}cc`);
});

test("a file in very many pieces is read from a snapshot while it is written", async () => {
  const files = await inPieces();
  const { snapshot } = await snapshotShare(files.context, { ...files.share(), metadata: null });
  const { reading } = await getFile(files.context, whole(files, snapshot));
  await files.write("file", 2 * PIECES - 2, "cc");
  assert.equal((await readWhole(reading)).toString(), "ba".repeat(PIECES));
});

test("a file in many pieces is read in one state, even if a write is about to be committed", async () => {
  const files = await Files.open({ inMemory: (memory) => new LateStore(memory) });
  const store = files.store as LateStore;
  await files.create("file", "a".repeat(2 * REPLACED));
  for (let piece = 0; piece < REPLACED; piece++) await files.write("file", 2 * piece, "b");
  const opening = store.beforeNextCommit(() => getFile(files.context, whole(files)));
  await files.write("file", 0, "c".repeat(2 * REPLACED));
  const { reading } = await opening;
  assert.equal((await readWhole(reading)).toString(), "c".repeat(2 * REPLACED));
});

test("ranges in very many pieces are all listed, and joined where they touch", async () => {
  const files = await Files.open();
  await files.create("file", "");
  const { context } = files;
  const list = async (range: { from: number; to: number } | null = null) => {
    const all = { after: null, resultsMax: Number.POSITIVE_INFINITY };
    const terms = { range, since: null, followsRenames: false, ...all };
    return (await listRanges(context, { ...files.at("file"), ...terms })).ranges;
  };
  assert.deepEqual(await list(), []);
  await files.create("file", "x".repeat(4 * PIECES));
  for (let piece = 0; piece < PIECES; piece++) await files.write("file", 2 * piece, "b");
  assert.deepEqual(await list(), [{ start: 0, end: 4 * PIECES, isCleared: false }]);
  const part = { start: 10, end: 20, isCleared: false };
  assert.deepEqual(await list({ from: 10, to: 19 }), [part]);
});
