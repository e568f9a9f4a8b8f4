import assert from "node:assert/strict";
import { test } from "node:test";
import { type Body, wholeBody } from "../../base/bytes.ts";
import { Blobs, bodyWith, bytesOf, NO_PROPERTIES, refused, untouchable } from "./blobs.fixture.ts";
import { createBlob } from "./create-blob.ts";
import { deleteContainer } from "./delete-container.ts";
import { getPageRanges } from "./get-page-ranges.ts";
import { leaseBlob } from "./lease-blob.ts";
import { clearPage, putPage } from "./put-page.ts";
import { setBlobProperties } from "./set-blob-properties.ts";

const PAGE = 512;
const NO_SEQUENCE = { atMost: null, below: null, equal: null };
const LARGE = Buffer.alloc(100 * PAGE, 1);

async function newBlob(blobs: Blobs, pages: number): Promise<void> {
  await createBlob(blobs.context, {
    ...blobs.use("disk"),
    type: "PageBlob",
    length: pages * PAGE,
    sequenceNumber: 5n,
    properties: NO_PROPERTIES,
    metadata: [],
    tags: [],
    tier: null,
  });
}

function write(blobs: Blobs, page: number, body: Body, sequence = {}) {
  return putPage(blobs.context, {
    ...blobs.use("disk"),
    range: { from: page * PAGE, until: page * PAGE + body.length },
    body,
    digests: { md5: null, crc64: null },
    computed: { md5: false, crc64: true },
    sequence: { ...NO_SEQUENCE, ...sequence },
  });
}

function resize(blobs: Blobs, pages: number) {
  return setBlobProperties(blobs.context, {
    ...blobs.use("disk"),
    properties: null,
    length: pages * PAGE,
    sequence: null,
  });
}

test("a refusal that records decide comes before the body is read", async () => {
  const blobs = await Blobs.open();
  const page = () => untouchable(PAGE);
  await assert.rejects(write(blobs, 0, page()), refused("BlobNotFound"));
  await newBlob(blobs, 4);
  await assert.rejects(write(blobs, 4, page()), refused("InvalidPageRange"));
  const code = "SequenceNumberConditionNotMet";
  await assert.rejects(write(blobs, 0, page(), { equal: 4n }), refused(code));
  await blobs.put("disk", "a block blob now");
  await assert.rejects(write(blobs, 0, page()), refused("InvalidBlobType"));
});

test("a snapshot in very many pieces reads back unchanged, independent of the blob", async () => {
  const blobs = await Blobs.open();
  await newBlob(blobs, 2_000);
  const page = Buffer.alloc(PAGE, 1);
  for (let at = 0; at < 1_200; at += 2) await write(blobs, at, wholeBody(page));
  const before = await bytesOf(await blobs.open("disk"));
  const snapshot = await blobs.snapshot("disk");
  await write(blobs, 0, wholeBody(Buffer.alloc(PAGE, 2)));
  assert.ok((await bytesOf(await blobs.open("disk", snapshot))).equals(before));
  const now = await bytesOf(await blobs.open("disk"));
  assert.deepEqual([now[0], now[PAGE * 2]], [2, 1]);
});

test("changes while the body arrives count: the write checks everything again", async () => {
  const blobs = await Blobs.open();
  await newBlob(blobs, 100);
  const shrinks = bodyWith(LARGE, () => resize(blobs, 99));
  await assert.rejects(write(blobs, 0, shrinks), refused("InvalidPageRange"));
  await resize(blobs, 100);
  const counts = bodyWith(LARGE, () =>
    setBlobProperties(blobs.context, {
      ...blobs.use("disk"),
      properties: null,
      length: null,
      sequence: { action: "increment" },
    }),
  );
  const code = "SequenceNumberConditionNotMet";
  await assert.rejects(write(blobs, 0, counts, { equal: 5n }), refused(code));
  const leases = bodyWith(LARGE, () =>
    leaseBlob(blobs.context, {
      ...blobs.use("disk"),
      lease: { action: "acquire", proposedId: "a", isNewId: true, durationSeconds: -1 },
    }),
  );
  await assert.rejects(write(blobs, 0, leases), refused("LeaseIdMissing"));
  await blobs.sweep();
  assert.equal(await blobs.recordsOfContents(), 0);
  assert.equal(blobs.bytesInExtents(), 0);
});

test("a blob that is deleted while a body arrives stays deleted", async () => {
  const blobs = await Blobs.open();
  await newBlob(blobs, 100);
  const deletes = bodyWith(LARGE, () => deleteContainer(blobs.context, blobs.use("")));
  await assert.rejects(write(blobs, 0, deletes), refused("ContainerNotFound"));
});

test("every write is a new version and changes only its own pages", async () => {
  const blobs = await Blobs.open();
  await newBlob(blobs, 200);
  const first = await write(
    blobs,
    0,
    bodyWith(LARGE, async () => {}),
  );
  const other = Buffer.alloc(PAGE, 2);
  const second = await write(
    blobs,
    50,
    bodyWith(other, async () => {}),
  );
  assert.ok(second.etag > first.etag);
  await clearPage(blobs.context, {
    ...blobs.use("disk"),
    range: { from: 10 * PAGE, until: 20 * PAGE },
    sequence: NO_SEQUENCE,
  });
  const expected = Buffer.alloc(200 * PAGE);
  LARGE.copy(expected);
  other.copy(expected, 50 * PAGE);
  expected.fill(0, 10 * PAGE, 20 * PAGE);
  assert.ok((await bytesOf(await blobs.open("disk"))).equals(expected));
  const { ranges, next } = await getPageRanges(blobs.context, {
    ...blobs.use("disk"),
    range: null,
    after: null,
    resultsMax: 10,
    since: null,
  });
  const found = ranges.map(({ start, end }) => [start / PAGE, end / PAGE]);
  assert.deepEqual(
    [found, next],
    [
      [
        [0, 10],
        [20, 100],
      ],
      null,
    ],
  );
});

test("adjacent pages are one range, however many pieces they are in", async () => {
  const blobs = await Blobs.open();
  await newBlob(blobs, 5_000);
  const page = Buffer.alloc(PAGE, 1);
  for (let at = 0; at < 4_100; at++) await write(blobs, at, wholeBody(page));
  await write(blobs, 4_999, wholeBody(page));
  const ranges = async (resultsMax: number) => {
    const asked = { ...blobs.use("disk"), range: null, after: null, resultsMax, since: null };
    const found = await getPageRanges(blobs.context, asked);
    return found.ranges.map(({ start, end }) => [start / PAGE, end / PAGE]);
  };
  const both = [
    [0, 4_100],
    [4_999, 5_000],
  ];
  assert.deepEqual(await ranges(10), both);
  await blobs.sweep();
  assert.deepEqual(await ranges(10), both);
  assert.deepEqual(await ranges(1), [[0, 4_100]]);
});

test("a deleted container with page blobs leaves nothing behind", async () => {
  const blobs = await Blobs.open();
  await newBlob(blobs, 200);
  await write(
    blobs,
    0,
    bodyWith(LARGE, async () => {}),
  );
  await write(
    blobs,
    50,
    bodyWith(Buffer.alloc(PAGE, 2), async () => {}),
  );
  await deleteContainer(blobs.context, blobs.use(""));
  await blobs.sweep();
  assert.equal(await blobs.recordsOfContents(), 0);
  assert.equal(blobs.bytesInExtents(), 0);
});
