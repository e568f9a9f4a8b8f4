import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DropConnection } from "./drop-connection.ts";
import { FrameReader } from "./frame-reader.ts";

const framed = (frame: Buffer) => {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(frame.length);
  return Buffer.concat([prefix, frame]);
};

test("frames are received unchanged, however the stream is cut", () => {
  const frames = fc.array(fc.uint8Array({ minLength: 1, maxLength: 50 }), { maxLength: 10 });
  const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });
  fc.assert(
    fc.property(frames, cuts, (sent, sizes) => {
      const stream = Buffer.concat(sent.map((one) => framed(Buffer.from(one))));
      const reader = new FrameReader(() => true);
      const received: Buffer[] = [];
      for (let at = 0, index = 0; at < stream.length; index++) {
        const size = sizes[index % sizes.length] as number;
        const chunk = Buffer.from(stream.subarray(at, at + size));
        received.push(...reader.take(chunk));
        // The chunk's memory may be reused.
        chunk.fill(0xdb);
        at += size;
      }
      assert.deepEqual(
        received.map((one) => [...one]),
        sent.map((one) => [...one]),
      );
    }),
  );
});

test("a frame that is not allowed is refused before a byte of it is stored", () => {
  const reader = new FrameReader((bytes) => bytes <= 10);
  assert.throws(() => reader.take(Buffer.from([0, 0, 0, 11])), DropConnection);
  assert.throws(() => new FrameReader(() => true).take(Buffer.alloc(4)), DropConnection);
  const limited = new FrameReader((bytes) => bytes < 2 ** 24);
  assert.throws(() => limited.take(Buffer.from([0x81, 0, 0, 1])), DropConnection);
});

test("a large frame is received part by part or as a whole, however the stream is cut", () => {
  const kinds = fc.array(fc.boolean(), { minLength: 1, maxLength: 3 });
  const cuts = fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1 });
  fc.assert(
    fc.property(kinds, cuts, (arePassed, sizes) => {
      const sent = arePassed.map((_, index) => Buffer.alloc(140_000 + index, index + 1));
      const passes = [...arePassed];
      const reader = new FrameReader(
        () => true,
        (start, bytes) => {
          const parts: Buffer[] = [Buffer.from(start)];
          assert.equal(bytes, sent[arePassed.length - passes.length]?.length);
          return passes.shift() ? { parts, add: (part: Buffer) => void parts.push(part) } : null;
        },
      );
      const stream = Buffer.concat(sent.map(framed));
      const received: Buffer[] = [];
      for (let at = 0, index = 0; at < stream.length; index++) {
        const size = sizes[index % sizes.length] as number;
        const chunk = Buffer.from(stream.subarray(at, at + size));
        const mayRetain = reader.large !== null;
        for (const frame of reader.take(chunk)) {
          assert.equal(Buffer.isBuffer(frame), !arePassed[received.length]);
          received.push(Buffer.isBuffer(frame) ? frame : Buffer.concat(frame.parts));
        }
        if (!mayRetain) chunk.fill(0xdb);
        at += size;
      }
      assert.equal(reader.large, null);
      assert.equal(received.length, sent.length);
      for (const [index, frame] of received.entries())
        assert.ok(frame.equals(sent[index] as Buffer));
    }),
    { numRuns: 50 },
  );
});
