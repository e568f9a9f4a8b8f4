import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { ManualClock } from "../../src/base/clock.ts";
import { key, keyAfter, SPACE, type Space } from "../../src/base/keys.ts";
import { UNCOMMITTED_BLOCKS_RETENTION_MS } from "../../src/base/limits.ts";
import { openData } from "../../src/main/open-data.ts";
import { BlobSweep } from "../../src/service/blob/sweep.ts";
import { FileSweep } from "../../src/service/file/sweep.ts";
import type { View } from "../../src/store/store.ts";

/** The spaces of records about contents. */
const CONTENT_SPACES = [
  SPACE.content,
  SPACE.contentSegment,
  SPACE.contentShares,
  SPACE.contentGarbage,
  SPACE.extentUse,
  SPACE.rangeEntry,
  SPACE.rangeLayer,
  SPACE.crowdedRegion,
  SPACE.doomedRangeLayer,
];
const UNCOMMITTED_SPACES = [SPACE.stagedBlob, SPACE.stagedBlock, SPACE.doomedStagedBlob];

export interface SpaceUsed {
  readonly extentBytes: number;
  readonly contentRecords: number;
  readonly uncommittedRecords: number;
}

/**
 * Opens a data folder that no server uses, at a time when uncommitted blocks have expired, sweeps
 * until there is nothing left to do, and returns the space in use.
 */
export async function sweepFolder(location: string): Promise<SpaceUsed> {
  const clock = new ManualClock(Date.now() + 2 * UNCOMMITTED_BLOCKS_RETENTION_MS);
  const failStop = (error: unknown) => {
    throw error;
  };
  const data = await openData({ location, memoryBytesMax: null }, clock, failStop);
  try {
    const blobs = new BlobSweep(data);
    const files = new FileSweep(data);
    const rounds = [() => blobs.sweep(), () => files.sweep(), () => data.contents.sweep()];
    for (const round of [...rounds, ...rounds]) while (await round());
    const records = (spaces: readonly Space[]) =>
      data.store.read((view) => spaces.reduce((sum, space) => sum + countIn(view, space), 0));
    return {
      extentBytes: await extentBytes(location),
      contentRecords: await records(CONTENT_SPACES),
      uncommittedRecords: await records(UNCOMMITTED_SPACES),
    };
  } finally {
    await data.close();
  }
}

function countIn(view: View, space: Space): number {
  const all = key(space);
  return view.range(all, keyAfter(all), { limit: Number.MAX_SAFE_INTEGER }).length;
}

async function extentBytes(location: string): Promise<number> {
  const files = await readdir(location, { recursive: true });
  const extents = files.filter((file) => file.endsWith(".extent"));
  const sizes = await Promise.all(extents.map((file) => stat(join(location, file))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}
