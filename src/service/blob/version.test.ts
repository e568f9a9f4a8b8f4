import assert from "node:assert/strict";
import { test } from "node:test";
import type { Versioned } from "../../rules/conditions.ts";
import { Blobs, NO_PROPERTIES } from "./blobs.fixture.ts";
import { setBlobMetadata } from "./set-blob-metadata.ts";
import { setBlobProperties } from "./set-blob-properties.ts";

const byNumber = (one: bigint, other: bigint) => (one < other ? -1 : 1);

test("ETags never repeat and always grow, even if the clock stops or goes back", async () => {
  const blobs = await Blobs.open();
  const names = ["a", "b", "c", "d"];
  const etags: bigint[] = [];
  const writes = [
    (name: string) => blobs.put(name, name),
    (name: string) => blobs.commit(name, []),
    (name: string) => setBlobMetadata(blobs.context, { ...blobs.use(name), metadata: [] }),
    (name: string) =>
      setBlobProperties(blobs.context, {
        ...blobs.use(name),
        properties: NO_PROPERTIES,
        length: null,
        sequence: null,
      }),
  ];
  for (let round = 0; round < 300; round++) {
    if (round === 200) blobs.clock.advance(-60_000);
    for (const write of writes) {
      const done: Versioned[] = await Promise.all(names.map<Promise<Versioned>>(write));
      // Writes at the same time have no order, above all at several front ends.
      etags.push(...done.map(({ etag }) => etag).toSorted(byNumber));
    }
  }
  assert.equal(etags.length, 4_800);
  assert.equal(new Set(etags).size, etags.length);
  assert.deepEqual(etags, etags.toSorted(byNumber));
});
