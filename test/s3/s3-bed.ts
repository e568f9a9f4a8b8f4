import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Bytes } from "../../src/base/bytes.ts";
import type { ExtentObjects } from "../../src/engine/s3/extent-objects.ts";
import { S3Extents, type S3ExtentsSetup } from "../../src/engine/s3/extents.ts";
import type { ObjectsOptions } from "../../src/engine/s3/open-objects.ts";
import type { S3Objects } from "../../src/engine/s3/s3-objects.ts";
import type { S3Place } from "../../src/engine/s3/s3-place.ts";
import { machineFor } from "../../src/machine/machine.fixture.ts";
import { gather } from "../../src/store/bodies.fixture.ts";
import type { Address, Extents } from "../../src/store/extents.ts";
import { FaultProxy } from "./fault-proxy.ts";
import { type ObjectStore, objectsAt } from "./object-store.ts";

/** Attempts follow each other at once, so that no test waits. */
const AT_ONCE: ObjectsOptions = { retrying: { pause: async () => {} } };

export interface Bed {
  readonly place: S3Place;
  /** The place without the proxy. */
  readonly objects: S3Objects;
  readonly extents: S3Extents;
  readonly proxy: FaultProxy;
}

/** Extents at a place of their own, behind a proxy. */
export async function s3Bed(
  t: TestContext,
  store: ObjectStore,
  setup: Partial<S3ExtentsSetup> = {},
  options: ObjectsOptions = {},
): Promise<Bed> {
  const place = store.newPlace();
  const proxy = await FaultProxy.start(place.endpoint);
  t.after(() => proxy.close());
  const { objects } = await objectsAt(place);
  t.after(() => objects.close());
  const through = { ...place, endpoint: proxy.endpoint };
  const { extents } = await objectsAt(through, { ...AT_ONCE, ...options });
  return { place, objects, proxy, extents: extentsFor(t, extents, setup) };
}

export function extentsFor(
  t: TestContext,
  objects: ExtentObjects,
  setup: Partial<S3ExtentsSetup> = {},
): S3Extents {
  const extents = new S3Extents({ objects, machine: machineFor(t), frontEnd: 7, ...setup });
  t.after(() => extents.close());
  return extents;
}

export async function readBack(extents: Extents, addresses: readonly Address[]): Promise<Bytes> {
  const parts = addresses.map((at) => gather(extents.read(at, 0, at.length)));
  return Buffer.concat(await Promise.all(parts));
}

/** The names of all objects at a place, behind its prefix. */
export async function namesAt({ objects, place }: Pick<Bed, "objects" | "place">) {
  const names: string[] = [];
  for await (const page of objects.list(place.prefix)) {
    for (const { name } of page) names.push(name.slice(place.prefix.length));
  }
  return names;
}

export async function uploadsAt({ objects, place }: Pick<Bed, "objects" | "place">) {
  const names: string[] = [];
  for await (const page of objects.listUploads(place.prefix)) {
    for (const { name } of page) names.push(name.slice(place.prefix.length));
  }
  return names;
}

/** Nothing is left at the place, and nothing is pinned. */
export async function assertNothingLeft(bed: Bed): Promise<void> {
  // What a failed upload leaves behind is deleted in the background, or by the next `trim`.
  await bed.extents.trim();
  assert.deepEqual(bed.extents.list(), []);
  assert.deepEqual(await namesAt(bed), []);
  assert.deepEqual(await uploadsAt(bed), []);
}
