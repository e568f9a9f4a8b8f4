import assert from "node:assert/strict";
import { test } from "node:test";
import { readWhole } from "../../store/whole-reading.ts";
import { Files } from "./files.fixture.ts";
import { getFile } from "./get-file.ts";
import { listRanges } from "./list-ranges.ts";
import { snapshotShare } from "./snapshot-share.ts";

/** More than are found at one go. */
const PIECES = 2_500;

/** A file in which every other byte was written by itself. */
async function inPieces(): Promise<Files> {
  const files = await Files.open();
  await files.create("file", "a".repeat(2 * PIECES));
  for (let piece = 0; piece < PIECES; piece++) await files.write("file", 2 * piece, "b");
  return files;
}

test("a file in very many pieces is read as it was when it was opened", async () => {
  const files = await inPieces();
  const before = "ba".repeat(PIECES);
  const { snapshot } = await snapshotShare(files.context, { ...files.share(), metadata: null });
  for (const stamp of [null, snapshot]) {
    const asked = { ...files.at("file", stamp), range: null, md5: false };
    const { reading } = await getFile(files.context, asked);
    await files.write("file", 0, "c".repeat(2 * PIECES));
    assert.equal((await readWhole(reading)).toString(), before);
    if (stamp === null) assert.equal(await files.text("file"), "c".repeat(2 * PIECES));
  }
});

test("ranges in very many pieces are all listed, and joined where they touch", async () => {
  const files = await Files.open();
  await files.create("file", "");
  const { context } = files;
  const list = async (range: { from: number; to: number } | null = null) => {
    const terms = { range, since: null, followsRenames: false };
    return (await listRanges(context, { ...files.at("file"), ...terms })).ranges;
  };
  assert.deepEqual(await list(), []);
  await files.create("file", "x".repeat(4 * PIECES));
  for (let piece = 0; piece < PIECES; piece++) await files.write("file", 2 * piece, "b");
  assert.deepEqual(await list(), [{ start: 0, end: 4 * PIECES, isCleared: false }]);
  const part = { start: 10, end: 20, isCleared: false };
  assert.deepEqual(await list({ from: 10, to: 19 }), [part]);
});
