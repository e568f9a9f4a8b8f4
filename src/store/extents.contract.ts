import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { borrowWhole, copyAndRelease } from "../base/borrowed-buffer.ts";
import { type Body, type Bytes, wholeBody } from "../base/bytes.ts";
import { crc64 } from "../machine/crc64.ts";
import { gather, inParts, someBytes } from "./bodies.fixture.ts";
import { type Address, type Extents, NO_TAPS, type Written } from "./extents.ts";

/** The size of extents in these tests: bodies of a few hundred KiB fill several of them. */
export const CONTRACT_EXTENT_BYTES = 1024 * 1024;

/** What extents promise on every engine. `open` makes new, empty ones of CONTRACT_EXTENT_BYTES. */
export function extentsContract(engine: string, open: (t: TestContext) => Promise<Extents>): void {
  const promise = (name: string, check: (extents: Extents) => Promise<void>) =>
    test(`${engine} extents: ${name}`, async (t) => check(await open(t)));

  promise("a body of any length, in any parts, is read back unchanged", async (extents) => {
    for (const length of [1, 65_531, 65_532, 65_533, 65_536, 200_000, 3_000_000]) {
      for (const partBytes of [1_000, 65_536, 5_000_000]) {
        const bytes = someBytes(length, partBytes);
        const written = await extents.write(inParts(bytes, partBytes));
        assert.deepEqual(await readAll(extents, written.addresses), bytes);
        written.release();
      }
    }
  });

  promise(
    "a tap sees every byte, in order, and the bytes do not change until its promise resolves",
    async (extents) => {
      const bodies = [1, 65_532, 65_536, 900_000, 3_000_000].map((length) =>
        someBytes(length, length),
      );
      const seen = await Promise.all(
        bodies.map(async (bytes) => {
          const shown: Promise<Bytes>[] = [];
          const written = await extents.write(inParts(bytes, 50_001), {
            crc64: false,
            tap(parts) {
              const late = iterations(3).then(() => Buffer.concat(parts));
              shown.push(late);
              return late.then(() => {});
            },
          });
          written.release();
          return Buffer.concat(await Promise.all(shown));
        }),
      );
      assert.deepEqual(seen, bodies);
    },
  );

  promise("a write returns the body's CRC-64 if it is requested", async (extents) => {
    const lengths = [1, 65_532, 65_533, 65_536, 131_064, 131_065, 900_000, 3_000_000];
    await Promise.all(
      lengths.map(async (length) => {
        const bytes = someBytes(length, length);
        for (const taps of [{ crc64: true, tap: null }, NO_TAPS]) {
          const written = await extents.write(inParts(bytes, 50_001), taps);
          assert.deepEqual(written.crc64, taps.crc64 ? crc64(bytes) : null);
          written.release();
        }
      }),
    );
  });

  promise("if the tap fails, so does the write, and nothing stays pinned", async (extents) => {
    const late = () => Promise.reject(new Error("did not like it"));
    const atOnce = () => {
      throw new Error("did not like it");
    };
    for (const tap of [late, atOnce]) {
      for (const length of [50_000, 3_000_000]) {
        const body = inParts(someBytes(length, 1), 50_001);
        await assert.rejects(extents.write(body, { crc64: true, tap }), /did not like it/);
        assert.ok(extents.list().every(({ pinned }) => !pinned));
      }
    }
  });

  promise("any range of an address can be read", async (extents) => {
    const bytes = someBytes(200_000, 1);
    const [at] = (await extents.write(wholeBody(bytes))).addresses as [Address];
    const edges = [0, 1, 65_531, 65_532, 65_533, 65_536, 131_064, 199_999, 200_000];
    for (const from of edges) {
      for (const until of edges.filter((edge) => edge >= from)) {
        const read = await gather(extents.read(at, from, until - from));
        assert.deepEqual(read, bytes.subarray(from, until), `${from} to ${until}`);
        const whole = copyAndRelease(await borrowWhole(extents.read(at, from, until - from)));
        assert.deepEqual(whole, read, `${from} to ${until}, in one buffer`);
      }
    }
  });

  promise("bodies written at the same time do not mix", async (extents) => {
    const bodies = Array.from({ length: 20 }, (_, at) => someBytes(50_000 + at * 9_999, at));
    const all = await Promise.all(bodies.map((bytes) => extents.write(inParts(bytes, 7_777))));
    for (const [at, written] of all.entries()) {
      assert.deepEqual(await readAll(extents, written.addresses), bodies[at]);
    }
    assertApart(all.flatMap((written) => written.addresses));
  });

  promise("no extent is larger than its size", async (extents) => {
    for (let at = 0; at < 10; at++)
      (await extents.write(wholeBody(someBytes(300_000, at)))).release();
    (await extents.write(wholeBody(someBytes(3_000_000, 1)))).release();
    const infos = extents.list();
    assert.ok(infos.length >= 3);
    for (const { bytesOnDisk } of infos) {
      assert.ok(bytesOnDisk > 0 && bytesOnDisk <= CONTRACT_EXTENT_BYTES);
    }
  });

  promise("an extent can be looked up, until it is removed", async (extents) => {
    const { written, extent } = await writtenInOne(extents, someBytes(50_000, 1));
    const listed = extents.list().find((info) => info.extent === extent);
    assert.deepEqual(await extents.find(extent), listed);
    assert.equal((await extents.find(extent))?.pinned, true);
    written.release();
    assert.equal((await extents.find(extent))?.pinned, false);
    await extents.remove(extent);
    assert.equal(await extents.find(extent), undefined);
    assert.equal(await extents.find(extent + 1), undefined);
  });

  promise("a write pins its extents until it is released", async (extents) => {
    const written = await extents.write(wholeBody(someBytes(50_000, 1)));
    const isPinned = () => extents.list().some(({ pinned }) => pinned);
    assert.ok(isPinned());
    const pin = extents.pin(written.addresses.map((at) => at.extent));
    written.release();
    written.release();
    assert.ok(isPinned(), "the second pin is not released");
    pin.release();
    assert.ok(!isPinned());
  });

  promise("a body that breaks off leaves nothing pinned", async (extents) => {
    const stops: Body = {
      length: 900_000,
      async drain(take) {
        await take(someBytes(400_000, 1));
        throw new Error("hung up");
      },
    };
    await assert.rejects(extents.write(stops), /hung up/);
    assert.ok(extents.list().every(({ pinned }) => !pinned));
  });

  promise("a body that is shorter or longer than its length is refused", async (extents) => {
    const lies = (said: number, sent: number): Body => ({
      length: said,
      drain: async (take) => take(someBytes(sent, 1)),
    });
    await assert.rejects(extents.write(lies(70_000, 60_000)), /too early/);
    await assert.rejects(extents.write(lies(60_000, 70_000)), /longer/);
    assert.ok(extents.list().every(({ pinned }) => !pinned));
  });

  promise("a sealed extent takes no more bodies", async (extents) => {
    const first = await extents.write(wholeBody(someBytes(20_000, 1)));
    const sealed = (first.addresses[0] as Address).extent;
    extents.seal(sealed);
    const second = await extents.write(wholeBody(someBytes(20_000, 2)));
    assert.notEqual((second.addresses[0] as Address).extent, sealed);
    assert.equal(extents.lastExtent, (second.addresses[0] as Address).extent);
    const info = extents.list().find(({ extent }) => extent === sealed);
    assert.equal(info?.open, false);
  });

  promise("a removed extent can be read until its last pin is released", async (extents) => {
    const bytes = someBytes(150_000, 3);
    const { written, extent } = await writtenInOne(extents, bytes);
    const pin = extents.pin([extent]);
    written.release();
    const owner = extents.read(written.addresses[0] as Address, 0, bytes.length);
    await extents.remove(extent);
    assert.ok(!extents.list().some((info) => info.extent === extent));
    assert.deepEqual(await gather(owner), bytes);
    pin.release();
    assert.throws(() => extents.pin([extent]), { name: "StoreError", kind: "damaged" });
  });

  promise("no body is written to a removed extent, even if it was open", async (extents) => {
    const { written, extent } = await writtenInOne(extents, someBytes(20_000, 1));
    written.release();
    await extents.remove(extent);
    const next = await writtenInOne(extents, someBytes(20_000, 2));
    assert.ok(next.extent > extent);
  });

  promise("a pin that fails because one extent is missing pins no other", async (extents) => {
    const { written, extent } = await writtenInOne(extents, someBytes(20_000, 1));
    written.release();
    assert.throws(() => extents.pin([extent, extent + 1]), { kind: "damaged" });
    assert.ok(extents.list().every(({ pinned }) => !pinned));
  });
}

/** What extents that grow promise: bodies are appended to the last one until it is full. */
export function growingExtentsContract(
  engine: string,
  open: (t: TestContext) => Promise<Extents>,
): void {
  const promise = (name: string, check: (extents: Extents) => Promise<void>) =>
    test(`${engine} extents: ${name}`, async (t) => check(await open(t)));

  promise(
    "an extent does not grow beyond its size; the next body starts another one",
    async (extents) => {
      for (let at = 0; at < 10; at++)
        (await extents.write(wholeBody(someBytes(300_000, at)))).release();
      const infos = extents.list();
      assert.ok(infos.length >= 3);
      for (const { bytesOnDisk } of infos) assert.ok(bytesOnDisk <= CONTRACT_EXTENT_BYTES);
      assert.deepEqual(
        infos.map(({ open }) => open),
        infos.map((_, at) => at === infos.length - 1),
      );
    },
  );

  promise("the space of a removed extent is reused by the next one, or freed", async (extents) => {
    for (let round = 0; round < 6; round++) {
      const full = await fill(extents);
      await extents.remove(full);
      assert.throws(() => extents.pin([full]), { kind: "damaged" });
      if (round % 3 === 2) await extents.trim();
      const bytes = someBytes(150_000, round);
      const next = await writtenInOne(extents, bytes);
      assert.ok(next.extent > full);
      assert.deepEqual(await readAll(extents, next.written.addresses), bytes);
      next.written.release();
      await extents.remove(next.extent);
    }
    assert.deepEqual(extents.list(), []);
  });
}

/** Writes to one extent until it is nearly full, and seals it. */
export async function fill(extents: Extents): Promise<number> {
  const bytes = someBytes(200_000, 1);
  const { written, extent } = await writtenInOne(extents, bytes);
  written.release();
  for (let more = 0; more < 3; more++) (await extents.write(wholeBody(bytes))).release();
  assert.equal(extents.lastExtent, extent);
  extents.seal(extent);
  return extent;
}

/** Waits for a few iterations of the event loop. */
async function iterations(count: number): Promise<void> {
  for (let at = 0; at < count; at++) await new Promise((resolve) => setImmediate(resolve));
}

async function readAll(extents: Extents, addresses: readonly Address[]): Promise<Bytes> {
  const all = addresses.map((at) => gather(extents.read(at, 0, at.length)));
  return Buffer.concat(await Promise.all(all));
}

async function writtenInOne(
  extents: Extents,
  bytes: Bytes,
): Promise<{ written: Written; extent: number }> {
  const written = await extents.write(wholeBody(bytes));
  assert.equal(written.addresses.length, 1);
  return { written, extent: (written.addresses[0] as Address).extent };
}

function assertApart(addresses: readonly Address[]): void {
  const sorted = [...addresses].sort((a, b) => a.extent - b.extent || a.offset - b.offset);
  for (const [index, at] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next?.extent === at.extent) assert.ok(at.offset + at.bytesOnDisk <= next.offset);
  }
}
