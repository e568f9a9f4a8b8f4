import assert from "node:assert/strict";
import { test } from "node:test";
import { wholeBody } from "../../src/base/bytes.ts";
import { MIB } from "../../src/base/limits.ts";
import { PartMemory } from "../../src/engine/s3/part-memory.ts";
import { machineFor } from "../../src/machine/machine.fixture.ts";
import { inParts, someBytes } from "../../src/store/bodies.fixture.ts";
import type { Address, Extents } from "../../src/store/extents.ts";
import { always, first, type Mishap, type Plan } from "./fault-proxy.ts";
import { type ObjectStore, objectsAt } from "./object-store.ts";
import {
  assertNothingLeft,
  type Bed,
  extentsFor,
  namesAt,
  readBack,
  s3Bed,
  uploadsAt,
} from "./s3-bed.ts";

const SMALL = someBytes(20_000, 1);
/** Longer than a part. */
const LONG = someBytes(19 * MIB, 2);
const SLOW_DOWN = errorAnswer(503, "SlowDown");
const UNREACHABLE = { name: "StoreError", kind: "unreachable" };

const PUT_OBJECT = /^PUT [^?]*$/;
const PUT_PART = /^PUT .*partNumber=2/;
const BEGIN = /^POST .*uploads=/;
const COMPLETE = /^POST .*uploadId=/;
const GET = /^GET /;

function errorAnswer(status: number, code: string): Mishap {
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`;
  return { kind: "answer", status, body };
}

/** What the engine makes of an object store that fails. */
export function faultTests(store: ObjectStore): void {
  passingMishaps(store);
  lastingMishaps(store);
  wrongObjects(store);
}

function passingMishaps(store: ObjectStore): void {
  const html: Mishap = { kind: "answer", status: 200, body: "<html>Welcome!</html>" };
  const mishaps: [name: string, plan: () => Plan][] = [
    ["asks to slow down", () => first(3, /./, SLOW_DOWN)],
    ["answers with a web page", () => first(3, /./, html)],
    ["does not answer in HTTP", () => first(3, /./, { kind: "nonsense" })],
    ["loses answers", () => first(3, /^(?:PUT|POST) /, { kind: "lose answer" })],
    ["loses the answer to a whole object", () => first(1, PUT_OBJECT, { kind: "lose answer" })],
    ["loses the answer to the last request", () => first(1, COMPLETE, { kind: "lose answer" })],
    ["loses the answer to the first request", () => first(1, BEGIN, { kind: "lose answer" })],
    ["cuts uploads", () => first(2, PUT_PART, { kind: "cut request", after: MIB })],
    ["cuts whole objects", () => first(2, PUT_OBJECT, { kind: "cut request", after: 10_000 })],
    ["damages what it gets", () => first(2, /^PUT /, { kind: "damage request" })],
    ["cuts downloads", () => first(3, GET, { kind: "cut answer", after: 5_000 })],
  ];
  for (const [name, plan] of mishaps) {
    test(`uploads and downloads go on if the object store ${name} a few times`, async (t) => {
      const bed = await s3Bed(t, store);
      for (const bytes of [SMALL, LONG]) {
        bed.proxy.plan = plan();
        const written = await bed.extents.write(inParts(bytes, 100_000));
        assert.ok((await readBack(bed.extents, written.addresses)).equals(bytes));
        written.release();
      }
      assert.equal((await namesAt(bed)).length, 2);
    });
  }

  test("a download that was cut goes on where it was", async (t) => {
    const { extents, proxy } = await s3Bed(t, store);
    const { addresses } = await extents.write(wholeBody(someBytes(900_000, 1)));
    proxy.plan = first(2, GET, { kind: "cut answer", after: 300_000 });
    assert.ok((await readBack(extents, addresses)).equals(someBytes(900_000, 1)));
    const starts = proxy.ranges.map((range) => Number(/^bytes=(\d+)-/.exec(range)?.[1]));
    assert.equal(starts.length, 3);
    assert.ok(starts[0] === 0 && starts.every((start, at) => start > (starts[at - 1] ?? -1)));
  });

  test("a request that nobody answers is sent again", async (t) => {
    const limits = { silentMsMax: 1_000 };
    const { extents, proxy } = await s3Bed(t, store, {}, { limits, retrying: { msMax: 600_000 } });
    proxy.plan = first(1, /./, { kind: "silence" });
    const { addresses } = await extents.write(wholeBody(SMALL));
    assert.deepEqual(await readBack(extents, addresses), SMALL);
  });

  test("a clock that is hours off costs one more request", async (t) => {
    for (const hours of [-5, 5]) {
      const now = () => Date.now() + hours * 3_600_000;
      const { extents } = await s3Bed(t, store, {}, { now });
      const { addresses } = await extents.write(wholeBody(SMALL));
      assert.deepEqual(await readBack(extents, addresses), SMALL);
    }
  });
}

function lastingMishaps(store: ObjectStore): void {
  const mishaps: [name: string, mishap: Mishap, requests: number][] = [
    ["asks to slow down", SLOW_DOWN, 7],
    ["does not answer in HTTP", { kind: "nonsense" }, 7],
    ["cuts every request", { kind: "cut request", after: 1 }, 7],
    ["refuses the key", errorAnswer(403, "InvalidAccessKeyId"), 1],
    ["has no such bucket", errorAnswer(404, "NoSuchBucket"), 1],
  ];
  for (const [name, mishap, requests] of mishaps) {
    test(`requests fail cleanly while the object store ${name}`, async (t) => {
      const bed = await s3Bed(t, store);
      const { addresses } = await bed.extents.write(wholeBody(SMALL));
      bed.proxy.plan = always(mishap);
      bed.proxy.asked.length = 0;
      await assert.rejects(bed.extents.write(wholeBody(SMALL)), UNREACHABLE);
      assert.equal(bed.proxy.asked.filter((asked) => PUT_OBJECT.test(asked)).length, requests);
      await assert.rejects(bed.extents.write(inParts(LONG, 100_000)), UNREACHABLE);
      await assert.rejects(readBack(bed.extents, addresses), UNREACHABLE);

      bed.proxy.plan = () => null;
      assert.deepEqual(await readBack(bed.extents, addresses), SMALL);
      const [at] = addresses as [Address];
      await bed.extents.remove(at.extent);
    });
  }

  test("an upload that fails in the middle leaves nothing behind", async (t) => {
    const bed = await s3Bed(t, store);
    bed.proxy.plan = (asked) => (PUT_PART.test(asked) ? SLOW_DOWN : null);
    await assert.rejects(bed.extents.write(inParts(LONG, 100_000)), UNREACHABLE);
    await assertNothingLeft(bed);
  });

  test("an upload that cannot be ended is ended later", async (t) => {
    const bed = await s3Bed(t, store);
    bed.proxy.plan = (asked) => (PUT_PART.test(asked) || /^DELETE/.test(asked) ? SLOW_DOWN : null);
    await assert.rejects(bed.extents.write(inParts(LONG, 100_000)), UNREACHABLE);
    await assert.rejects(bed.extents.trim(), UNREACHABLE);
    assert.equal((await uploadsAt(bed)).length, 1);
    bed.proxy.plan = () => null;
    await assertNothingLeft(bed);
  });

  test("a body that breaks off leaves nothing behind", async (t) => {
    const parts = new PartMemory(machineFor(t));
    const bed = await s3Bed(t, store, { parts });
    for (const length of [SMALL.length, LONG.length]) {
      const body = { length, drain: async (take: Take) => stopsAfter(take, length / 2) };
      await assert.rejects(bed.extents.write(body), /hung up/);
    }
    await assertNothingLeft(bed);
    assert.equal(parts.taken, 0);
  });

  test("an object store without space is full", async (t) => {
    const bed = await s3Bed(t, store);
    bed.proxy.plan = always(errorAnswer(403, "QuotaExceeded"));
    await assert.rejects(bed.extents.write(wholeBody(SMALL)), { kind: "full" });
  });

  test("parts that wait for the object store take limited memory", async (t) => {
    const memory = new PartMemory(machineFor(t), 5 * MIB, 20 * MIB);
    const { extents } = await s3Bed(t, store, { parts: memory });
    let peak = 0;
    const bodies = [1, 2, 3, 4].map((seed) => inParts(someBytes(21 * MIB, seed), 100_000));
    const watched = bodies.map((body) => ({
      length: body.length,
      drain: (take: Take) =>
        body.drain(async (part) => {
          await take(part);
          peak = Math.max(peak, memory.taken);
        }),
    }));
    const all = await Promise.all(watched.map((body) => extents.write(body)));
    assert.ok(peak > 10 * MIB && peak <= 20 * MIB, `${peak} bytes`);
    assert.equal(memory.taken, 0);
    for (const written of all) written.release();
  });
}

type Take = (part: Buffer) => void | Promise<void>;

async function stopsAfter(take: Take, bytes: number): Promise<void> {
  for (let at = 0; at < bytes; at += 10_000) await take(someBytes(10_000, at));
  throw new Error("hung up");
}

function wrongObjects(store: ObjectStore): void {
  const damages: [name: string, damage: (bed: Bed, name: string) => Promise<void>][] = [
    ["is missing", (bed, name) => bed.objects.delete(name)],
    ["has other bytes", (bed, name) => replace(bed, name, 90_112)],
    ["is too short", (bed, name) => replace(bed, name, 50_000)],
    ["is empty", (bed, name) => replace(bed, name, 0)],
  ];
  for (const [name, damage] of damages) {
    test(`an object that ${name} is damaged`, async (t) => {
      const bed = await s3Bed(t, store);
      const { addresses } = await bed.extents.write(wholeBody(someBytes(90_000, 1)));
      const [object = ""] = await namesAt(bed);
      await damage(bed, `${bed.place.prefix}${object}`);
      await assert.rejects(readBack(bed.extents, addresses), { kind: "damaged" });
    });
  }

  test("an object of another process is neither replaced nor taken for our own", async (t) => {
    const bed = await s3Bed(t, store);
    const { addresses } = await bed.extents.write(wholeBody(SMALL));
    const long = await bed.extents.write(wholeBody(LONG));
    const again = extentsFor(t, (await objectsAt(bed.place)).extents);
    const other: Extents = again;
    const broken = { kind: "broken", message: /another server has made .*prefix of its own/ };
    await assert.rejects(other.write(wholeBody(someBytes(20_000, 3))), broken);
    // Some stores ignore the condition where parts become an object; then the name says it.
    await assert.rejects(other.write(wholeBody(someBytes(LONG.length, 3))), broken);
    assert.deepEqual(await readBack(bed.extents, addresses), SMALL);
    assert.ok((await readBack(bed.extents, long.addresses)).equals(LONG));
  });
}

async function replace({ objects }: Bed, name: string, bytes: number): Promise<void> {
  await objects.delete(name);
  await objects.create(name, someBytes(bytes, 9));
}
