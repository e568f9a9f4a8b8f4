import { fairQueue } from "../base/fair-queue.ts";
import { key, keyAfter, keyBehind, SPACE } from "../base/keys.ts";
import { bytesInUse } from "../content/content-uses.ts";
import { MEASURED_BLOBS } from "../service/blob/measured-blobs.ts";
import { MEASURED_FILES } from "../service/file/measured-files.ts";
import { MEASURED_MESSAGES } from "../service/queue/measured-messages.ts";
import {
  type Usage,
  type UsagePath,
  type UsageProgress,
  UsageScan,
} from "../service/shared/usage-scan.ts";
import { MEASURED_ENTITIES } from "../service/table/measured-entities.ts";
import type { Store } from "../store/store.ts";
import type { Data } from "./open-data.ts";

const MEASURED = [...MEASURED_BLOBS, ...MEASURED_MESSAGES, ...MEASURED_ENTITIES, ...MEASURED_FILES];
const USES_PER_STEP = 1_000;

/** The files of a data folder; null if the bytes are elsewhere. */
export interface DiskUsage {
  readonly databaseBytes: number;
  /** All extents, and the bytes in them that contents use. The rest is garbage, or soon reused. */
  readonly extentBytes: number;
  readonly extentBytesInUse: number;
}

/** What takes space: the answer of `lazuli usage --json`. */
export interface MeasuredUsage extends Usage {
  readonly disk: DiskUsage | null;
}

/** Measures what takes space. Yields its progress; returns null if the path does not exist. */
export async function* measureUsage(
  { store, engine }: Pick<Data, "store" | "engine">,
  path: UsagePath | null,
): AsyncGenerator<UsageProgress, MeasuredUsage | null> {
  const usage = yield* new UsageScan(store, MEASURED, path).run();
  if (usage === null) return null;
  const extents = engine?.extents ?? null;
  if (engine === null || extents === null) return { ...usage, disk: null };
  const { databaseBytes } = await engine.space.measure();
  const extentBytes = extents.list().reduce((sum, { bytesOnDisk }) => sum + bytesOnDisk, 0);
  const extentBytesInUse = await usedBytes(store);
  return { ...usage, disk: { databaseBytes, extentBytes, extentBytesInUse } };
}

async function usedBytes(store: Store): Promise<number> {
  let bytes = 0;
  const until = keyAfter(key(SPACE.extentUse));
  for (let from = key(SPACE.extentUse); ; ) {
    await fairQueue.next();
    const entries = await store.read((view) => view.range(from, until, { limit: USES_PER_STEP }));
    for (const { value } of entries) bytes += bytesInUse(value);
    const last = entries.at(-1);
    if (last === undefined || entries.length < USES_PER_STEP) return bytes;
    from = keyBehind(last.key);
  }
}
