import assert from "node:assert/strict";
import { test } from "node:test";
import { key, keyAfter, SPACE } from "../base/keys.ts";
import { someBytes } from "../store/bodies.fixture.ts";
import type { Content } from "../store/content.ts";
import { CONTENTS_EXTENT_BYTES, type OpenContents } from "../store/contents.contract.ts";
import type { Address } from "../store/extents.ts";
import { readAddresses } from "./content-records.ts";
import { findEndOfUse, listUses, type Use } from "./content-uses.ts";
import type { ContentsFixture } from "./contents.fixture.ts";

/** What use records say about the bytes in extents. */
export function contentUsesContract(engine: string, open: OpenContents): void {
  test(`${engine}: the end of use is after all bytes in use in the last extent`, async (t) => {
    const fixture = await open(t);
    assert.equal(await findEndOfUse(fixture.store), null);
    const first = await fixture.put(someBytes(30_000, 1));
    await fixture.put(someBytes(30_000, 2));
    // The content with the lower id now lies after the other one.
    const [at] = await addressesOf(fixture, await fixture.replace(first, someBytes(30_000, 3)));
    const { extent, offset, bytesOnDisk } = at as Address;
    assert.deepEqual(await findEndOfUse(fixture.store), { extent, offset: offset + bytesOnDisk });
  });
}

/** The same where an extent grows, so that one content may have several pieces in it. */
export function growingUsesContract(engine: string, open: OpenContents): void {
  test(`${engine}: replacing a content within an extent leaves one use record`, async (t) => {
    const fixture = await open(t);
    const first = await fixture.put(someBytes(30_000, 1));
    const [before] = await addressesOf(fixture, first);
    const second = await fixture.replace(first, someBytes(50_000, 2));
    const [after] = await addressesOf(fixture, second);
    assert.equal(after?.extent, before?.extent, "this test needs both in one extent");
    const { extent, offset, bytesOnDisk } = after as Address;
    const use = { extent, content: second.id, bytesOnDisk, end: offset + bytesOnDisk };
    assert.deepEqual(await usesIn(fixture, extent), [use]);
    assert.equal((await useRecords(fixture)).length, 1);
  });

  test(`${engine}: a use record covers all pieces of a content in one extent`, async (t) => {
    const fixture = await open(t);
    const content = await fixture.put(someBytes(2 * CONTENTS_EXTENT_BYTES, 1));
    const addresses = await addressesOf(fixture, content);
    const extents = new Set(addresses.map(({ extent }) => extent));
    assert.ok(extents.size > 1 && addresses.length > extents.size);
    for (const extent of extents) {
      const here = addresses.filter((at) => at.extent === extent);
      const bytesOnDisk = here.reduce((sum, at) => sum + at.bytesOnDisk, 0);
      const end = Math.max(...here.map((at) => at.offset + at.bytesOnDisk));
      assert.deepEqual(await usesIn(fixture, extent), [
        { extent, content: content.id, bytesOnDisk, end },
      ]);
    }
    await fixture.drop(content);
    await fixture.sweepAll();
    await fixture.assertNothingLeft();
  });

  test(`${engine}: repeated uploads and drops take little space, even without sweeps`, async (t) => {
    const fixture = await open(t);
    for (let round = 0; round < 100; round++) {
      const bytes = someBytes(100_000, round);
      const content = await fixture.put(bytes);
      assert.deepEqual(await fixture.read(content), bytes);
      await fixture.drop(content);
      const used = fixture.bytesOnDisk();
      assert.ok(used <= 3 * CONTENTS_EXTENT_BYTES, `${used} bytes in round ${round}`);
    }
    await fixture.sweepAll();
    await fixture.assertNothingLeft();
  });
}

function addressesOf(fixture: ContentsFixture, { id }: Content): Promise<readonly Address[]> {
  return fixture.store.read((view) => readAddresses(view, id));
}

function usesIn(fixture: ContentsFixture, extent: number): Promise<Use[]> {
  return fixture.store.read((view) => listUses(view, extent, 0n, 1_000));
}

function useRecords(fixture: ContentsFixture) {
  const all = key(SPACE.extentUse);
  return fixture.store.read((view) => view.range(all, keyAfter(all), { limit: 1_000 }));
}
