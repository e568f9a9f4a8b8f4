import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { Writable } from "node:stream";
import { test } from "node:test";
import { lengthOf } from "../../base/borrowed-buffer.ts";
import type { Bytes } from "../../base/bytes.ts";
import { SendQueue } from "./send-queue.ts";

const KIB = 1024;
const SLICE_BYTES = 512 * KIB;

/** A socket that takes bytes when the test lets it. */
function slowSocket() {
  const given: { bytes: Bytes; taken: () => void }[] = [];
  const stream = new Writable({
    highWaterMark: 1,
    writev(chunks, taken) {
      given.push({ bytes: Buffer.concat(chunks.map(({ chunk }) => chunk as Bytes)), taken });
    },
    write(chunk: Bytes, _encoding, taken) {
      given.push({ bytes: chunk, taken });
    },
  });
  stream.on("error", () => {});
  return { stream, given, socket: stream as unknown as Socket };
}

function frameOf(...parts: Bytes[]) {
  const frame = {
    parts,
    mayOverwrite: true,
    isBack: false,
    release() {
      frame.isBack = true;
    },
  };
  return frame;
}

const nextIteration = () => new Promise((resolve) => setImmediate(resolve));

test("frames reach the socket in order and in slices, and are released when they are taken", async () => {
  const { given, socket } = slowSocket();
  const queue = new SendQueue(socket, () => {});
  const large = frameOf(randomBytes(100), randomBytes(700 * KIB), randomBytes(900 * KIB));
  const small = frameOf(randomBytes(50));
  queue.send(large);
  queue.send(small);
  const whole = lengthOf(large.parts) + 50;
  assert.equal(queue.bytes, whole);
  const taken: Bytes[] = [];
  while (!small.isBack) {
    await nextIteration();
    for (const one of given.splice(0)) {
      assert.ok(one.bytes.length <= SLICE_BYTES);
      assert.equal(large.isBack, taken.reduce((sum, { length }) => sum + length, 0) >= whole - 50);
      taken.push(one.bytes);
      one.taken();
    }
  }
  assert.deepEqual(Buffer.concat(taken), Buffer.concat([...large.parts, ...small.parts]));
  assert.equal(queue.bytes, 0);
});

test("a small frame goes to the socket at once if nothing waits before it", () => {
  const { given, socket } = slowSocket();
  const queue = new SendQueue(socket, () => {});
  queue.send(frameOf(randomBytes(10), randomBytes(20)));
  assert.equal(given.length, 1);
  assert.equal(queue.bytes, 0);
});

test("frames that wait for a closed socket are released", async () => {
  const { stream, given, socket } = slowSocket();
  const queue = new SendQueue(socket, () => {});
  const frames = [frameOf(randomBytes(2_000 * KIB)), frameOf(randomBytes(2_000 * KIB))];
  for (const frame of frames) queue.send(frame);
  while (given.length === 0) await nextIteration();
  stream.destroy();
  // As a closed socket does, the fake calls back for what it was given.
  for (const one of given.splice(0)) one.taken();
  while (!frames.every(({ isBack }) => isBack)) await nextIteration();
  assert.equal(queue.bytes, 0);
});
