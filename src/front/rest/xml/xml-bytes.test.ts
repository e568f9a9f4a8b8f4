import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { borrowWhole } from "../../../base/borrowed-buffer.ts";
import type { Bytes } from "../../../base/bytes.ts";
import { slicesDuring } from "../../../base/fair-queue.fixture.ts";
import { PIECE_BYTES } from "../../../base/fair-queue.ts";
import { KIB } from "../../../base/limits.ts";
import type { ResponseBody, ResponseStream } from "../http/exchange.ts";
import { XmlBytes } from "./xml-bytes.ts";

async function piecesOf(body: ResponseBody): Promise<readonly Bytes[]> {
  if (Buffer.isBuffer(body)) return [body];
  return (await borrowWhole(body as ResponseStream)).parts;
}

test("a document is what was added to it, in order, as text or as bytes", async () => {
  const bytes = Buffer.from("abcdefghijklmnopqrstuvwxyz".repeat(8 * KIB));
  const part = fc.tuple(fc.nat(bytes.length), fc.nat(20 * KIB));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(fc.string(), part), { maxLength: 40 }), async (parts) => {
      const [xml, expected] = [new XmlBytes(null), [] as Bytes[]];
      for (const one of parts) {
        const isText = typeof one === "string";
        const added = isText ? Buffer.from(one) : bytes.subarray(one[0], one[0] + one[1]);
        if (isText) xml.add(one);
        else xml.addBytes(added);
        expected.push(added);
      }
      const body = xml.done();
      assert.equal(body?.length, Buffer.concat(expected).length);
      assert.deepEqual(Buffer.concat(await piecesOf(body)), Buffer.concat(expected));
    }),
  );
});

test("adjacent bytes are sent in place, as one piece", async () => {
  const bytes = Buffer.alloc(100 * KIB, "x");
  const xml = new XmlBytes(null);
  xml.add("<a>");
  for (let at = 0; at < bytes.length; at += KIB) xml.addBytes(bytes.subarray(at, at + KIB));
  xml.add("</a>");
  const pieces = await piecesOf(xml.done());
  assert.deepEqual(
    pieces.map(({ length }) => length),
    [3, 100 * KIB, 4],
  );
  assert.equal(pieces[1]?.buffer, bytes.buffer);
});

test("a long list is rendered in slices, between which other work runs", async () => {
  const items = Array.from({ length: 1_000 }, (_, at) => at);
  const xml = new XmlBytes(null);
  const slices = await slicesDuring(() => xml.addAll(items, (at) => `<a>${at}</a>`.repeat(50)));
  const expected = items.map((at) => `<a>${at}</a>`.repeat(50)).join("");
  assert.equal(Buffer.concat(await piecesOf(xml.done())).toString(), expected);
  const pieces = expected.length / PIECE_BYTES;
  assert.ok(slices >= pieces - 2, `${slices} slices for ${pieces} pieces`);
});
