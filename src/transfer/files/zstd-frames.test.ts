import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bytes } from "../../base/bytes.ts";
import { zstdFrames } from "./zstd-frames.ts";

/** Two blocks, "abc" as it is and "zzzz" as a repetition, with a checksum. */
const FRAME = Buffer.from(
  "28b52ffd 24 07 180000 616263 230000 7a 11223344".replaceAll(" ", ""),
  "hex",
);
const SKIPPABLE = Buffer.from("502a4d18 02000000 aabb".replaceAll(" ", ""), "hex");
/** With a window instead of a length, and one empty block. */
const EMPTY = Buffer.from("28b52ffd 00 58 010000".replaceAll(" ", ""), "hex");

async function cut(bytes: Bytes, pieceBytes: number): Promise<Bytes[]> {
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  const found: Bytes[] = [];
  for await (const piece of zstdFrames(pieces())) found.push(piece);
  return found;
}

test("pieces end where frames end, however the file is read", async () => {
  const all = Buffer.concat([FRAME, SKIPPABLE, EMPTY, FRAME]);
  assert.deepEqual(await cut(all, all.length), [FRAME, SKIPPABLE, EMPTY, FRAME]);
  const ends = [FRAME, SKIPPABLE, EMPTY, FRAME].map(
    (
      (at) =>
      ({ length }) =>
        (at += length)
    )(0),
  );
  for (let pieceBytes = 1; pieceBytes < all.length; pieceBytes++) {
    const pieces = await cut(all, pieceBytes);
    assert.ok(Buffer.concat(pieces).equals(all));
    let at = 0;
    const found = new Set(pieces.map(({ length }) => (at += length)));
    for (const end of ends) assert.ok(found.has(end), `${end} of pieces of ${pieceBytes}`);
  }
});

test("a file that ends within a frame, or goes on with something else, is refused", async () => {
  for (let bytes = 1; bytes < FRAME.length; bytes++) {
    await assert.rejects(cut(FRAME.subarray(0, bytes), 4), /unexpected end of file/);
  }
  await assert.rejects(cut(Buffer.concat([FRAME, Buffer.from("else")]), 8), /not a frame of zstd/);
});
