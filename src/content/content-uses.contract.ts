import assert from "node:assert/strict";
import { test } from "node:test";
import { key, keyAfter, SPACE } from "../base/keys.ts";
import { someBytes } from "../store/bodies.fixture.ts";
import type { Content } from "../store/content.ts";
import { CONTENTS_EXTENT_BYTES, type OpenContents } from "../store/contents.contract.ts";
import type { Address } from "../store/extents.ts";
import { readAddresses } from "./content-records.ts";
import { findEndOfUse, listUses, type Use } from "./content-uses.ts";
import type { ContentsBench } from "./contents.fixture.ts";

/** What use records say about the bytes in extents. */
export function contentUsesContract(engine: string, open: OpenContents): void {
  test(`${engine}: replacing a content within an extent leaves one use record`, async (t) => {
    const bench = await open(t);
    const first = await bench.put(someBytes(30_000, 1));
    const [before] = await addressesOf(bench, first);
    const second = await bench.replace(first, someBytes(50_000, 2));
    const [after] = await addressesOf(bench, second);
    assert.equal(after?.extent, before?.extent, "this test needs both in one extent");
    const { extent, offset, bytesOnDisk } = after as Address;
    const use = { extent, content: second.id, bytesOnDisk, end: offset + bytesOnDisk };
    assert.deepEqual(await usesIn(bench, extent), [use]);
    assert.equal((await useRecords(bench)).length, 1);
  });

  test(`${engine}: a use record covers all pieces of a content in one extent`, async (t) => {
    const bench = await open(t);
    const content = await bench.put(someBytes(2 * CONTENTS_EXTENT_BYTES, 1));
    const addresses = await addressesOf(bench, content);
    const extents = new Set(addresses.map(({ extent }) => extent));
    assert.ok(extents.size > 1 && addresses.length > extents.size);
    for (const extent of extents) {
      const here = addresses.filter((at) => at.extent === extent);
      const bytesOnDisk = here.reduce((sum, at) => sum + at.bytesOnDisk, 0);
      const end = Math.max(...here.map((at) => at.offset + at.bytesOnDisk));
      assert.deepEqual(await usesIn(bench, extent), [
        { extent, content: content.id, bytesOnDisk, end },
      ]);
    }
    await bench.drop(content);
    await bench.sweepAll();
    await bench.assertNothingLeft();
  });

  test(`${engine}: the end of use is after all bytes in use in the last extent`, async (t) => {
    const bench = await open(t);
    assert.equal(await findEndOfUse(bench.store), null);
    const first = await bench.put(someBytes(30_000, 1));
    await bench.put(someBytes(30_000, 2));
    // The content with the lower id now lies after the other one.
    const [at] = await addressesOf(bench, await bench.replace(first, someBytes(30_000, 3)));
    const { extent, offset, bytesOnDisk } = at as Address;
    assert.deepEqual(await findEndOfUse(bench.store), { extent, offset: offset + bytesOnDisk });
  });
}

function addressesOf(bench: ContentsBench, { id }: Content): Promise<readonly Address[]> {
  return bench.store.read((view) => readAddresses(view, id));
}

function usesIn(bench: ContentsBench, extent: number): Promise<Use[]> {
  return bench.store.read((view) => listUses(view, extent, 0n, 1_000));
}

function useRecords(bench: ContentsBench) {
  const all = key(SPACE.extentUse);
  return bench.store.read((view) => view.range(all, keyAfter(all), { limit: 1_000 }));
}
