import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { wholeBody } from "../../src/base/bytes.ts";
import { ManualClock } from "../../src/base/clock.ts";
import { MIB } from "../../src/base/limits.ts";
import { ContentsFixture } from "../../src/content/contents.fixture.ts";
import {
  beginMaker,
  beginPlace,
  collectExtents,
  listMakers,
  notePlaceClaimed,
} from "../../src/content/extent-makers.ts";
import { MemoryStore } from "../../src/engine/memory/store.ts";
import { claimPlace } from "../../src/engine/s3/claim-place.ts";
import { KnownExtents } from "../../src/engine/s3/known-extents.ts";
import { someBytes } from "../../src/store/bodies.fixture.ts";
import type { Address } from "../../src/store/extents.ts";
import { StoreError } from "../../src/store/store.ts";
import { CERTIFICATE } from "../sdk/certificate.ts";
import { FaultProxy } from "./fault-proxy.ts";
import { type ObjectStore, objectsAt } from "./object-store.ts";
import { assertNothingLeft, extentsFor, namesAt, readBack, s3Bed, uploadsAt } from "./s3-bed.ts";

const START_MS = 1_700_000_000_000;

/** When objects are made, and when they are deleted. */
export function lifeTests(store: ObjectStore): void {
  gathering(store);
  removal(store);
  collection(store);
  places(store);
}

function gathering(store: ObjectStore): void {
  test("small bodies that arrive together share objects", async (t) => {
    const bed = await s3Bed(t, store);
    const bodies = Array.from({ length: 200 }, (_, seed) => someBytes(4_000 + seed, seed));
    const all = await Promise.all(bodies.map((bytes) => bed.extents.write(wholeBody(bytes))));
    const names = await namesAt(bed);
    assert.ok(names.length <= 5, `${names.length} objects`);
    for (const [at, { addresses }] of all.entries()) {
      assert.deepEqual(await readBack(bed.extents, addresses), bodies[at]);
    }
  });

  test("a slow body holds up no other one", async (t) => {
    const { extents } = await s3Bed(t, store);
    let goOn = () => {};
    const late = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const slow = extents.write({
      length: 2_000,
      async drain(take) {
        await take(someBytes(1_000, 1));
        await late;
        await take(someBytes(1_000, 2));
      },
    });
    const { addresses } = await extents.write(wholeBody(someBytes(5_000, 3)));
    assert.deepEqual(await readBack(extents, addresses), someBytes(5_000, 3));
    goOn();
    const bytes = Buffer.concat([someBytes(1_000, 1), someBytes(1_000, 2)]);
    assert.deepEqual(await readBack(extents, (await slow).addresses), bytes);
  });
}

function removal(store: ObjectStore): void {
  test("an object stays until no front end reads it, and this one neither", async (t) => {
    let nobodyReads = () => {};
    const unread = () =>
      new Promise<void>((resolve) => {
        nobodyReads = resolve;
      });
    const bed = await s3Bed(t, store, { unread });
    const bytes = someBytes(100_000, 1);
    const written = await bed.extents.write(wholeBody(bytes));
    const { addresses } = written;
    const [at] = addresses as [Address];
    written.release();
    await bed.extents.remove(at.extent);
    assert.deepEqual(bed.extents.list(), []);
    await bed.extents.trim();
    assert.deepEqual(await readBack(bed.extents, addresses), bytes);

    const pin = bed.extents.pin([at.extent]);
    nobodyReads();
    // The end of the wait is noted before the next request is answered.
    assert.deepEqual(await readBack(bed.extents, addresses), bytes);
    await bed.extents.trim();
    assert.deepEqual(await readBack(bed.extents, addresses), bytes);
    pin.release();
    await assertNothingLeft(bed);
  });

  test("an object that was removed while the records could not be reached is deleted later", async (t) => {
    let isOut = true;
    const unread = async () => {
      if (isOut) throw new StoreError("unreachable", "the records cannot be reached");
    };
    const bed = await s3Bed(t, store, { unread });
    const written = await bed.extents.write(wholeBody(someBytes(100_000, 1)));
    written.release();
    const [at] = written.addresses as [Address];
    await bed.extents.remove(at.extent);
    await new Promise(setImmediate);
    await bed.extents.trim();
    assert.notDeepEqual(await namesAt(bed), []);
    isOut = false;
    await new Promise(setImmediate);
    await bed.extents.trim();
    await assertNothingLeft(bed);
  });

  test("extents that were forgotten are found, read and removed", async (t) => {
    const bed = await s3Bed(t, store, { known: new KnownExtents(2) });
    const all: Address[] = [];
    for (let seed = 0; seed < 6; seed++) {
      const written = await bed.extents.write(wholeBody(someBytes(70_000, seed)));
      written.release();
      all.push(written.addresses[0] as Address);
    }
    assert.ok(bed.extents.list().length <= 2);
    for (const [seed, at] of all.entries()) {
      const pin = bed.extents.pin([at.extent]);
      assert.deepEqual(await readBack(bed.extents, [at]), someBytes(70_000, seed));
      pin.release();
      const { bytesOnDisk, extent } = at;
      const found = { extent, bytesOnDisk, open: false, pinned: false };
      assert.deepEqual(await bed.extents.find(extent), found);
      await bed.extents.remove(extent);
    }
    for (const { extent } of all) assert.equal(await bed.extents.find(extent), undefined);
    await assertNothingLeft(bed);
  });

  test("only those who may sweep the extents of a front end find them", async (t) => {
    const bed = await s3Bed(t, store);
    const { addresses } = await bed.extents.write(wholeBody(someBytes(70_000, 1)));
    const [{ extent }] = addresses as [Address];
    const { extents: objects } = await objectsAt(bed.place);
    const other = extentsFor(t, objects, { frontEnd: 8, sweeps: (frontEnd) => frontEnd === 8 });
    assert.equal(await other.find(extent), undefined);
    const leader = extentsFor(t, objects, { frontEnd: 9 });
    assert.equal((await leader.find(extent))?.extent, extent);
    // Reading is everybody's.
    assert.deepEqual(await readBack(other, addresses), someBytes(70_000, 1));
  });
}

function collection(store: ObjectStore): void {
  test("what a front end leaves behind is collected after its end", async (t) => {
    const records = new MemoryStore(new ManualClock(START_MS));
    const ended = await beginMaker(records);
    const bed = await s3Bed(t, store, { frontEnd: ended });
    const before = new ContentsFixture(records, bed.extents);
    const used = await before.put(someBytes(90_000, 1));
    // Uploads whose content was never committed, and one that was cut off in the middle.
    await bed.extents.write(wholeBody(someBytes(90_000, 2)));
    await bed.extents.write(wholeBody(someBytes(9_000, 3)));
    await bed.objects.beginUpload(`${bed.place.prefix}extents/00001/0000ffff`);
    assert.equal((await namesAt(bed)).length, 3);

    const frontEnd = await beginMaker(records);
    const { extents: objects } = await objectsAt(bed.place);
    const extents = extentsFor(t, objects, { frontEnd });
    const running = await extents.write(wholeBody(someBytes(90_000, 4)));
    assert.deepEqual(await records.read(listMakers), [ended, frontEnd]);
    assert.equal(await collectExtents(records, extents, ended), 2);
    assert.deepEqual(await uploadsAt(bed), []);
    assert.equal((await namesAt(bed)).length, 2);
    assert.deepEqual(await records.read(listMakers), [frontEnd]);
    const after = new ContentsFixture(records, extents);
    assert.deepEqual(await after.read(used), someBytes(90_000, 1));
    assert.deepEqual(await readBack(extents, running.addresses), someBytes(90_000, 4));

    // What is dropped later is swept by whoever drops it.
    running.release();
    await after.drop(used);
    await after.sweepAll();
    assert.deepEqual(await namesAt(bed), []);
  });

  test("a number is never given to a second front end", async () => {
    const records = new MemoryStore(new ManualClock(START_MS));
    const nothing = { abortUploads: async () => {}, extentsOf: noPages, discard: async () => {} };
    const numbers: number[] = [];
    for (let round = 0; round < 3; round++) {
      const frontEnd = await beginMaker(records);
      numbers.push(frontEnd);
      await collectExtents(records, nothing, frontEnd);
    }
    assert.deepEqual(numbers, [1, 2, 3]);
  });

  test("a page of a list is followed by the next one", async (t) => {
    const { objects, place } = await s3Bed(t, store);
    const names = Array.from({ length: 1_001 }, (_, at) => `${place.prefix}${1_000 + at}`);
    for (let at = 0; at < names.length; at += 50) {
      const some = names.slice(at, at + 50);
      await Promise.all(some.map((name) => objects.create(name, Buffer.from("x"))));
    }
    const pages: number[] = [];
    for await (const page of objects.list(place.prefix)) pages.push(page.length);
    assert.deepEqual(pages, [1_000, 1]);
  });
}

async function* noPages(): AsyncIterable<readonly number[]> {}

function places(store: ObjectStore): void {
  test("records and their bucket are not used with another partner", async (t) => {
    const newRecords = () => new MemoryStore(new ManualClock(START_MS));
    const { objects, place } = await s3Bed(t, store);
    const claim = async (records: MemoryStore, prefix: string) => {
      const found = await beginPlace(records, randomUUID());
      await claimPlace(objects, prefix, found);
      await notePlaceClaimed(records, found.id);
    };
    const records = newRecords();
    for (let start = 0; start < 2; start++) await claim(records, place.prefix);
    const other = { kind: "broken", message: /has the bytes of other records/ };
    await assert.rejects(claim(newRecords(), place.prefix), other);
    const elsewhere = `${place.prefix}elsewhere/`;
    const wrong = { kind: "broken", message: /does not have the bytes of these records/ };
    await assert.rejects(claim(records, elsewhere), wrong);
    await claim(newRecords(), elsewhere);
  });

  test("an object store is reached with TLS if its certificate can be trusted", async (t) => {
    const place = store.newPlace();
    const proxy = await FaultProxy.start(place.endpoint, "https");
    t.after(() => proxy.close());
    const secure = { ...place, endpoint: proxy.endpoint };
    const trusting = await objectsAt({ ...secure, authorities: CERTIFICATE });
    const bytes = someBytes(9 * MIB, 1);
    const extents = extentsFor(t, trusting.extents);
    const { addresses } = await extents.write(wholeBody(bytes));
    assert.ok((await readBack(extents, addresses)).equals(bytes));
    const doubting = await objectsAt(secure, { retrying: { pause: async () => {} } });
    const unknown = { kind: "unreachable", message: /SELF_SIGNED_CERT/ };
    await assert.rejects(extentsFor(t, doubting.extents).write(wholeBody(bytes)), unknown);
  });

  test("a body of several objects comes back whole", async (t) => {
    const { extents } = await s3Bed(t, store, { extentBytesMax: 12 * MIB });
    const bytes = someBytes(30 * MIB, 5);
    const { addresses } = await extents.write(wholeBody(bytes));
    assert.equal(addresses.length, 3);
    assert.ok((await readBack(extents, addresses)).equals(bytes));
  });
}
