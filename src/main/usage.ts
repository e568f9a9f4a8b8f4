import { fairQueue } from "../base/fair-queue.ts";
import { key, keyAfter, keyBehind, SPACE } from "../base/keys.ts";
import { bytesInUse } from "../content/content-uses.ts";
import type { MeasuredUsage } from "../front/console/console-facts.ts";
import { MEASURED_BLOBS } from "../service/blob/measured-blobs.ts";
import { MEASURED_FILES } from "../service/file/measured-files.ts";
import { MEASURED_MESSAGES } from "../service/queue/measured-messages.ts";
import { type Amounts, bytesOf } from "../service/shared/usage-row.ts";
import { type UsagePath, type UsageProgress, UsageScan } from "../service/shared/usage-scan.ts";
import { MEASURED_ENTITIES } from "../service/table/measured-entities.ts";
import type { Store } from "../store/store.ts";
import type { SeenEngine } from "./metrics/engine-metrics.ts";

const MEASURED = [...MEASURED_BLOBS, ...MEASURED_MESSAGES, ...MEASURED_ENTITIES, ...MEASURED_FILES];
const USES_PER_STEP = 1_000;

/** The records to measure, and the engine that has them; null if they are not in a data folder. */
interface MeasuredData {
  readonly store: Pick<Store, "read">;
  readonly engine: Pick<SeenEngine, "extents" | "space"> | null;
}

export interface MeasuringProgress extends UsageProgress {
  /** At most the whole work; null if nobody knows. */
  readonly total: UsageProgress | null;
}

/** The database is read once, except for records about bytes in extents. */
async function totalOf(engine: MeasuredData["engine"]): Promise<UsageProgress | null> {
  if (engine === null) return null;
  return { objects: 0, bytes: Math.max((await engine.space.measure()).databaseBytes, 1) };
}

/** The sums of an account: those of its containers, queues, tables and shares. */
export interface AccountUsage {
  readonly account: string;
  readonly amounts: Amounts;
}

/** The sums of all accounts that have something, the largest first. */
export function usageByAccount({ rows }: Pick<MeasuredUsage, "rows">): AccountUsage[] {
  const names = [...new Set(rows.map(({ account }) => account))].sort();
  const sums = names.map((account) => {
    const own = rows.filter((row) => row.account === account);
    return { account, amounts: sumOf(own.map(({ amounts }) => amounts)) };
  });
  return sums.sort((one, other) => bytesOf(other.amounts) - bytesOf(one.amounts));
}

/** Measures what takes space. Yields its progress; returns null if the path does not exist. */
export async function* measureUsage(
  { store, engine }: MeasuredData,
  path: UsagePath | null,
): AsyncGenerator<MeasuringProgress, MeasuredUsage | null> {
  const total = await totalOf(engine);
  const scan = new UsageScan(store, MEASURED, path).run();
  let step = await scan.next();
  for (; step.done !== true; step = await scan.next()) yield { ...step.value, total };
  const usage = step.value;
  if (usage === null) return null;
  const extents = engine?.extents ?? null;
  if (engine === null || extents === null) return { ...usage, disk: null };
  const { databaseBytes } = await engine.space.measure();
  const extentBytes = extents.list().reduce((sum, { bytesOnDisk }) => sum + bytesOnDisk, 0);
  const extentBytesInUse = await usedBytes(store);
  return { ...usage, disk: { databaseBytes, extentBytes, extentBytesInUse } };
}

/** Measures what takes space in all databases of a server. Yields its progress. */
export async function* measureAll(
  stores: readonly MeasuredData["store"][],
  engine: MeasuredData["engine"],
): AsyncGenerator<UsageProgress, MeasuredUsage> {
  const found: MeasuredUsage[] = [];
  const before = { objects: 0, bytes: 0 };
  for (const store of stores) {
    let last: UsageProgress = { objects: 0, bytes: 0 };
    const work = measureUsage({ store, engine }, null);
    for (;;) {
      const { done, value } = await work.next();
      if (done === true) {
        if (value !== null) found.push(value);
        break;
      }
      last = value;
      yield { objects: before.objects + last.objects, bytes: before.bytes + last.bytes };
    }
    before.objects += last.objects;
    before.bytes += last.bytes;
  }
  return {
    rows: found.flatMap(({ rows }) => rows),
    total: sumOf(found.map(({ total }) => total)),
    unreachable: sumOf(found.map(({ unreachable }) => unreachable)),
    disk: found[0]?.disk ?? null,
  };
}

function sumOf(all: readonly Amounts[]): Amounts {
  const sum: { -readonly [kind in keyof Amounts]: Amounts[kind] } = {};
  for (const amounts of all) {
    for (const kind of Object.keys(amounts) as (keyof Amounts)[]) {
      const { objects = 0, bytes = 0 } = sum[kind] ?? {};
      const more = amounts[kind];
      sum[kind] = { objects: objects + (more?.objects ?? 0), bytes: bytes + (more?.bytes ?? 0) };
    }
  }
  return sum;
}

async function usedBytes(store: MeasuredData["store"]): Promise<number> {
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
