import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import type { Bytes } from "../base/bytes.ts";
import { type ContentsFixture, NO_DIGESTS, partOf } from "../content/contents.fixture.ts";
import { crc64 } from "../machine/crc64.ts";
import { gather, inParts, someBytes } from "./bodies.fixture.ts";
import type { Content, ContentKey, Taken } from "./content.ts";
import type { OpenContents } from "./contents.contract.ts";
import { INLINE_BYTES_MAX } from "./contents.ts";
import type { Transaction } from "./store.ts";

const KEY = someBytes(32, 1);
const OTHER_KEY = someBytes(32, 2);

/** What contents promise, on every engine, of bytes that come with a key. */
export function sealedContentsContract(engine: string, open: OpenContents): void {
  const promise = (name: string, check: (sealed: SealedFixture) => Promise<void>) =>
    test(`sealed contents on ${engine}: ${name}`, async (t) =>
      check(new SealedFixture(await open(t))));

  promise("a body is read back with its key, and its digests are those sent", async (sealed) => {
    for (const length of [0, 1, INLINE_BYTES_MAX, INLINE_BYTES_MAX + 1, 700_000]) {
      const bytes = someBytes(length, length);
      const taken = await sealed.take(bytes, { md5: true, crc64: true });
      assert.deepEqual(taken.md5, createHash("md5").update(bytes).digest());
      assert.deepEqual(taken.crc64, crc64(bytes));
      const content = await sealed.keep(taken, (tx) => sealed.contents.keep(tx, taken));
      assert.equal(content.length, length);
      assert.deepEqual(await sealed.read(content), bytes);
    }
  });

  promise("a reading may begin anywhere", async (sealed) => {
    const bytes = someBytes(200_000, 3);
    const content = await sealed.put(bytes);
    for (const from of [0, 1, 15, 16, 17, 65_531, 65_536, 131_071, 199_999]) {
      const length = Math.min(40, bytes.length - from);
      assert.deepEqual(
        await sealed.read(content, from, length),
        bytes.subarray(from, from + length),
      );
    }
  });

  promise("neither records nor extents have a byte of what was sent", async (sealed) => {
    const secret = Buffer.from("a secret that nobody else may read".repeat(3));
    const content = await sealed.put(secret);
    assert.equal(sealed.fixture.bytesOnDisk() > 0, true);
    for (const { value } of await sealed.fixture.records())
      assert.equal(shows(value, secret), false);
    assert.equal(shows(await sealed.fixture.read(content), secret), false);
    assert.equal(shows(await sealed.read(content, 0, content.length, OTHER_KEY), secret), false);
  });

  promise("the same bytes are stored differently each time", async (sealed) => {
    const one = await sealed.fixture.read(await sealed.put(someBytes(100, 1)));
    const other = await sealed.fixture.read(await sealed.put(someBytes(100, 1)));
    assert.notDeepEqual(one, other);
  });

  promise("lists and slices of sealed leaves are read with the key", async (sealed) => {
    const parts = [someBytes(50, 1), someBytes(70_000, 2), someBytes(33, 3)];
    const leaves: Content[] = [];
    for (const part of parts) leaves.push(await sealed.put(part));
    const list = await sealed.fixture.compose(leaves.map((leaf) => partOf(leaf)));
    const whole = Buffer.concat(parts);
    assert.deepEqual(await sealed.read(list), whole);
    const slice = await sealed.fixture.slice(list, 7, 69_999);
    assert.deepEqual(await sealed.read(slice), whole.subarray(7, 70_006));
  });

  promise(
    "a map of sealed bytes is read with the key after every kind of write",
    async (sealed) => {
      const { fixture, contents } = sealed;
      const { maps } = contents;
      const expected = Buffer.alloc(300_000);
      let map = await fixture.store.transact((tx) => maps.create(tx, expected.length));
      // More entries than the sweeper leaves alone, one behind the other.
      for (let at = 0; at < 200; at++) {
        const bytes = someBytes(300, at);
        const from = at * 300;
        const taken = await sealed.take(bytes);
        map = await sealed.keep(taken, (tx) => maps.write(tx, map, from, taken));
        bytes.copy(expected, from);
      }
      map = await fixture.store.transact((tx) => maps.clear(tx, map, 1_000, 1_500));
      expected.fill(0, 1_000, 1_500);
      const end = await sealed.take(someBytes(500, 99));
      map = await sealed.keep(end, (tx) => maps.append(tx, map, end));
      const whole = Buffer.concat([expected, someBytes(500, 99)]);
      assert.deepEqual(await sealed.read(map), whole);
      // Small entries are merged, and extents compacted: both must leave the key's bytes alone.
      await fixture.sweepAll();
      assert.deepEqual(await sealed.read(map), whole);
    },
  );

  promise("compaction moves sealed bytes without their key", async (sealed) => {
    const dead: Content[] = [];
    const living: [Content, Bytes][] = [];
    for (let at = 0; at < 40; at++) {
      const bytes = someBytes(40_000, at);
      const content = await sealed.put(bytes);
      if (at % 4 === 0) living.push([content, bytes]);
      else dead.push(content);
    }
    const before = sealed.fixture.bytesOnDisk();
    for (const content of dead) await sealed.fixture.drop(content);
    await sealed.fixture.sweepAll();
    assert.ok(sealed.fixture.bytesOnDisk() < before / 2);
    for (const [content, bytes] of living) assert.deepEqual(await sealed.read(content), bytes);
    for (const [content] of living) await sealed.fixture.drop(content);
    await sealed.fixture.sweepAll();
    await sealed.fixture.assertNothingLeft();
  });
}

class SealedFixture {
  readonly fixture: ContentsFixture;

  constructor(fixture: ContentsFixture) {
    this.fixture = fixture;
  }

  get contents(): ContentsFixture["contents"] {
    return this.fixture.contents;
  }

  take(bytes: Bytes, digests = NO_DIGESTS): Promise<Taken> {
    return this.contents.take(inParts(bytes, 65_000), digests, KEY);
  }

  async keep(taken: Taken, keep: (tx: Transaction) => Content): Promise<Content> {
    try {
      return await this.fixture.store.transact(keep);
    } finally {
      taken.release();
    }
  }

  async put(bytes: Bytes): Promise<Content> {
    const taken = await this.take(bytes);
    return this.keep(taken, (tx) => this.contents.keep(tx, taken));
  }

  async read(
    content: Content,
    from = 0,
    length = content.length - from,
    key: ContentKey = KEY,
  ): Promise<Bytes> {
    const reading = await this.fixture.store.read((view) =>
      this.contents.open(view, content, from, length, key),
    );
    try {
      return await gather(reading);
    } finally {
      reading.close();
    }
  }
}

/** Whether some of the secret is in these bytes. */
function shows(bytes: Bytes, secret: Bytes): boolean {
  return bytes.includes(secret.subarray(0, 12));
}
