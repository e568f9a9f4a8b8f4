import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { borrowWhole, copyAndRelease } from "../../base/borrowed-buffer.ts";
import type { Body, Bytes } from "../../base/bytes.ts";
import { Fault } from "../../base/fault.ts";
import { MIB } from "../../base/limits.ts";
import { decodeStructured, encodeStructured } from "./structured-body.ts";

/** "123456789" in one segment; its CRC-64 is AE8B14860A799888. */
const ONE_SEGMENT = Buffer.from(
  [
    "01 3000000000000000 0100 0100", // version, length 48, flags, one segment
    "0100 0900000000000000 313233343536373839 8898790a86148bae",
    "8898790a86148bae",
  ]
    .join("")
    .replaceAll(" ", ""),
  "hex",
);

/** "123456789" in two segments, "1234" and "56789". */
const TWO_SEGMENTS = Buffer.from(
  [
    "01 4200000000000000 0100 0200", // length 66, two segments
    "0100 0400000000000000 31323334 d471ffe2e7dbf529",
    "0200 0500000000000000 3536373839 67e66c1787c87df8",
    "8898790a86148bae",
  ]
    .join("")
    .replaceAll(" ", ""),
  "hex",
);

/** A body that arrives in parts of this size. */
function inParts(bytes: Bytes, partBytes: number): Body {
  return {
    length: bytes.length,
    async drain(take) {
      for (let at = 0; at < bytes.length; at += partBytes) {
        await take(bytes.subarray(at, at + partBytes));
      }
    },
  };
}

async function decoded(framed: Bytes, length: number, partBytes = framed.length): Promise<string> {
  const parts: Bytes[] = [];
  await decodeStructured(inParts(framed, Math.max(1, partBytes)), length).drain((part) => {
    parts.push(part);
  });
  return Buffer.concat(parts).toString();
}

async function encoded(
  content: Bytes,
  partBytes: number,
): Promise<{ bytes: Bytes; length: number }> {
  let at = 0;
  const stream = encodeStructured({
    length: content.length,
    async borrow() {
      if (at >= content.length) return null;
      const part = Buffer.from(content.subarray(at, at + partBytes));
      at += part.length;
      return { parts: [part], mayOverwrite: true, release: () => part.fill(0xdb) };
    },
    close() {},
  });
  const bytes = copyAndRelease(await borrowWhole(stream));
  return { bytes, length: stream.length };
}

function refused(code: string): (error: unknown) => boolean {
  return (error) => error instanceof Fault && error.code === code;
}

test("a body is decoded however the network splits it", async () => {
  for (const framed of [ONE_SEGMENT, TWO_SEGMENTS]) {
    for (let partBytes = 1; partBytes <= framed.length; partBytes++) {
      assert.equal(await decoded(framed, 9, partBytes), "123456789");
    }
  }
});

test("a body is encoded byte for byte as clients expect", async () => {
  for (const partBytes of [1, 4, 9]) {
    const { bytes, length } = await encoded(Buffer.from("123456789"), partBytes);
    assert.equal(bytes.toString("hex"), ONE_SEGMENT.toString("hex"));
    assert.equal(length, ONE_SEGMENT.length);
  }
});

test("an empty body is encoded as one empty segment, and decoded from none, too", async () => {
  const { bytes } = await encoded(Buffer.alloc(0), 1);
  const one =
    "01 2700000000000000 0100 0100 0100 0000000000000000 0000000000000000 0000000000000000";
  assert.equal(bytes.toString("hex"), one.replaceAll(" ", ""));
  assert.equal(await decoded(bytes, 0), "");
  const none = "01 1500000000000000 0100 0000 0000000000000000".replaceAll(" ", "");
  assert.equal(await decoded(Buffer.from(none, "hex"), 0), "");
});

test("segments have 4 MiB, and the last one has the rest", async () => {
  const content = Buffer.alloc(9 * MIB, "lazuli");
  const { bytes, length } = await encoded(content, 100_000);
  assert.equal(bytes.length, length);
  assert.equal(bytes.readUInt16LE(11), 3);
  assert.equal(bytes.readBigUInt64LE(15), BigInt(4 * MIB));
  assert.equal(await decoded(bytes, content.length, 65_536), content.toString());
});

test("a single flipped bit is always refused", async () => {
  const bits = fc.nat(TWO_SEGMENTS.length * 8 - 1);
  await fc.assert(
    fc.asyncProperty(bits, fc.integer({ min: 1, max: 20 }), async (bit, partBytes) => {
      const spoilt = Buffer.from(TWO_SEGMENTS);
      spoilt[bit >> 3] = (spoilt[bit >> 3] as number) ^ (1 << (bit & 7));
      await assert.rejects(decoded(spoilt, 9, partBytes), Fault);
    }),
    { numRuns: 500 },
  );
});

test("damaged bytes and damaged checksums do not match", async () => {
  const inContent = Buffer.from(ONE_SEGMENT);
  inContent[25] = 0x30;
  await assert.rejects(decoded(inContent, 9), refused("Crc64Mismatch"));
  const inLastChecksum = Buffer.from(ONE_SEGMENT);
  inLastChecksum[47] = 0;
  await assert.rejects(decoded(inLastChecksum, 9), refused("Crc64Mismatch"));
});

test("frames that are truncated, too long or of another length are refused", async () => {
  for (let length = 0; length < ONE_SEGMENT.length; length++) {
    await assert.rejects(decoded(ONE_SEGMENT.subarray(0, length), 9), refused("InvalidInput"));
  }
  const more = Buffer.concat([ONE_SEGMENT, Buffer.alloc(1)]);
  await assert.rejects(decoded(more, 9), refused("InvalidInput"));
  more.writeBigUInt64LE(BigInt(more.length), 1);
  await assert.rejects(decoded(more, 9), refused("InvalidInput"));
  await assert.rejects(decoded(ONE_SEGMENT, 8), refused("InvalidInput"));
  await assert.rejects(decoded(ONE_SEGMENT, 10), refused("InvalidInput"));
});

test("any content round-trips", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 300 }),
      fc.integer({ min: 1, max: 400 }),
      async (content, partBytes) => {
        const { bytes } = await encoded(Buffer.from(content), partBytes);
        assert.equal(
          await decoded(bytes, content.length, partBytes),
          Buffer.from(content).toString(),
        );
      },
    ),
  );
});
