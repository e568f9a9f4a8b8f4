import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import {
  alignedBytes,
  freeAlignedBytes,
  PAGE_BYTES,
  placeInAlignedMemory,
  roomForWorker,
} from "./aligned-bytes.ts";

test("every piece begins on a page and has pages of its own", () => {
  const pieces = [1, 4096, 4097, 100_000, 30_000_000].map((bytes) => alignedBytes(bytes));
  for (const [index, piece] of pieces.entries()) {
    assert.equal((placeInAlignedMemory(piece) as number) % PAGE_BYTES, 0);
    piece.fill(index + 1);
  }
  assert.deepEqual(
    pieces.map((piece) => piece.length),
    [1, 4096, 4097, 100_000, 30_000_000],
  );
  for (const [index, piece] of pieces.entries()) {
    assert.ok(piece.equals(Buffer.alloc(piece.length, index + 1)));
  }
});

test("a part of a piece has its own place, and other memory has none", () => {
  const piece = alignedBytes(10_000);
  const at = placeInAlignedMemory(piece) as number;
  alignedBytes(30_000_000);
  assert.equal(placeInAlignedMemory(piece.subarray(5)), at + 5);
  assert.equal(placeInAlignedMemory(Buffer.alloc(10)), null);
  assert.equal(placeInAlignedMemory(Buffer.from(new SharedArrayBuffer(10) as never)), null);
});

test("another thread sees the same bytes, not a copy", async () => {
  const piece = alignedBytes(100);
  const code = `require("node:worker_threads").parentPort.once("message", (bytes) => {
    bytes[7] = bytes[6] + 1;
  });`;
  const worker = new Worker(code, { eval: true });
  piece[6] = 41;
  const ended = new Promise((resolve) => worker.once("exit", resolve));
  worker.postMessage(piece);
  await ended;
  assert.equal(piece[7], 42);
});

test("freed memory goes to the next piece of as many pages, and to no other", () => {
  const freed = alignedBytes(3 * PAGE_BYTES - 1);
  const place = placeInAlignedMemory(freed);
  freeAlignedBytes(freed);
  assert.notEqual(placeInAlignedMemory(alignedBytes(2 * PAGE_BYTES)), place);
  assert.equal(placeInAlignedMemory(alignedBytes(3 * PAGE_BYTES)), place);
  assert.notEqual(placeInAlignedMemory(alignedBytes(3 * PAGE_BYTES)), place);
});

test("a worker allocates within its room, and fails beyond it", async () => {
  const own = alignedBytes(2 * PAGE_BYTES);
  const code = `
    const { parentPort, workerData } = require("node:worker_threads");
    import(workerData.module).then(({ alignedBytes }) => {
      const places = [alignedBytes(1).byteOffset, alignedBytes(1).byteOffset];
      try { alignedBytes(1); } catch (error) { parentPort.postMessage([places, error.message]); }
    });`;
  const module = new URL("./aligned-bytes.js", import.meta.url).href;
  const workerData = { module, alignedRoom: roomForWorker(own) };
  const worker = new Worker(code, { eval: true, workerData });
  const [places, message] = await new Promise<[number[], string]>((resolve, reject) => {
    worker.once("message", resolve).once("error", reject);
  });
  await worker.terminate();
  assert.deepEqual(places, [own.byteOffset, own.byteOffset + PAGE_BYTES]);
  assert.match(message, /room of a worker is too small/);
});
