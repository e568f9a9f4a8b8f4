import assert from "node:assert/strict";
import { test } from "node:test";
import { type Body, wholeBody } from "../../base/bytes.ts";
import { type DataOptions, IN_MEMORY } from "../shared/service-data.fixture.ts";
import { appendBlock } from "./append-block.ts";
import { Blobs, bodyWith, NO_PROPERTIES, refused, untouchable } from "./blobs.fixture.ts";
import { createBlob } from "./create-blob.ts";
import { sealBlob } from "./seal-blob.ts";

async function newLog(blobs: Blobs) {
  return createBlob(blobs.context, {
    ...blobs.use("log"),
    type: "AppendBlob",
    length: 0,
    sequenceNumber: 0n,
    properties: NO_PROPERTIES,
    metadata: [],
    tags: [],
    tier: null,
  });
}

function append(blobs: Blobs, body: string | Body, position: number | null = null) {
  return appendBlock(blobs.context, {
    ...blobs.use("log"),
    body: typeof body === "string" ? wholeBody(Buffer.from(body)) : body,
    digests: { md5: null, crc64: null },
    computed: { md5: false, crc64: true },
    append: { position, bytesMax: null },
  });
}

function seal(blobs: Blobs) {
  return sealBlob(blobs.context, { ...blobs.use("log"), position: null });
}

test("a refusal that records decide comes before the body is read", async () => {
  const blobs = await Blobs.open();
  await assert.rejects(append(blobs, untouchable()), refused("BlobNotFound"));
  await newLog(blobs);
  const code = "AppendPositionConditionNotMet";
  await assert.rejects(append(blobs, untouchable(), 1), refused(code));
  await seal(blobs);
  await assert.rejects(append(blobs, untouchable()), refused("BlobIsSealed"));
});

test("a slow block lands behind blocks that finish earlier", async () => {
  const blobs = await Blobs.open();
  await newLog(blobs);
  const slow = bodyWith(Buffer.alloc(100_000, "s"), () => append(blobs, "fast"));
  const done = await append(blobs, slow);
  assert.deepEqual([done.offset, done.blocks], [4, 2]);
  assert.equal(await blobs.text("log"), `fast${"s".repeat(100_000)}`);
});

test("a slow block is refused if its position is taken or the blob is sealed meanwhile", async () => {
  const blobs = await Blobs.open();
  await newLog(blobs);
  const late = bodyWith(Buffer.alloc(100_000, "s"), () => append(blobs, "fast"));
  await assert.rejects(append(blobs, late, 0), refused("AppendPositionConditionNotMet"));
  const sealed = bodyWith(Buffer.alloc(100_000, "s"), () => seal(blobs));
  await assert.rejects(append(blobs, sealed), refused("BlobIsSealed"));
  assert.equal(await blobs.text("log"), "fast");
  await blobs.sweep();
  assert.equal(blobs.bytesInExtents(), 0);
});

/** A log of many small blocks, and its text. */
async function longLog(options?: DataOptions): Promise<{ blobs: Blobs; text: string }> {
  const blobs = await Blobs.open(false, options);
  await newLog(blobs);
  const lines = Array.from({ length: 500 }, (_, at) => `line ${at}\n`);
  for (const line of lines) await append(blobs, line);
  return { blobs, text: lines.join("") };
}

test("many small blocks read back unchanged", async () => {
  const { blobs, text } = await longLog();
  assert.equal(await blobs.text("log"), text);
  await append(blobs, "one more");
  assert.equal(await blobs.text("log"), `${text}one more`);
});

test("many small blocks take few records of an engine that appends in place", async () => {
  const { blobs } = await longLog(IN_MEMORY);
  assert.equal(await blobs.recordsOfContents(), 1);
});

test("a recreated blob begins empty, and the old one leaves no bytes", async () => {
  const blobs = await Blobs.open();
  await newLog(blobs);
  await append(
    blobs,
    bodyWith(Buffer.alloc(100_000), async () => {}),
  );
  await newLog(blobs);
  const done = await append(blobs, "new");
  assert.deepEqual([done.offset, done.blocks], [0, 1]);
  await blobs.put("log", "");
  await blobs.sweep();
  assert.equal(await blobs.text("log"), "");
  assert.equal(blobs.bytesInExtents(), 0);
});
