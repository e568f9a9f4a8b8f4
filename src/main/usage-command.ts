import { resolve } from "node:path";
import { GIB, KIB, MIB } from "../base/limits.ts";
import type { MeasuredUsage } from "../front/console/console-facts.ts";
import {
  type Amounts,
  bytesOf,
  type MeasuredService,
  USAGE_KINDS,
  type UsageKind,
  type UsageRow,
} from "../service/shared/usage-row.ts";
import type { UsagePath } from "../service/shared/usage-scan.ts";
import { isUnreachable } from "../store/store.ts";
import { chooseRecords, type DataAsked } from "./command-place.ts";
import { openData } from "./open-data.ts";
import { ProgressBar } from "./progress-bar.ts";
import { runServerTask } from "./server-task.ts";
import { OutOfReach, StartError, UsageError } from "./start-error.ts";
import type { CommandSurroundings } from "./surroundings.ts";
import { textTable } from "./text-table.ts";
import {
  type AccountUsage,
  type MeasuringProgress,
  measureUsage,
  usageByAccount,
} from "./usage.ts";
import { requireFolder } from "./verify-command.ts";

export interface UsageAsked extends DataAsked {
  readonly path: UsagePath | null;
  readonly json: boolean;
}

const SERVICES: readonly MeasuredService[] = ["blob", "queue", "table", "file"];

/**
 * Shows what takes space in a data folder or in shared records, whether a server runs on them or
 * not.
 */
export async function showUsage(asked: UsageAsked, around: CommandSurroundings): Promise<void> {
  const { json, path, shared } = asked;
  const options = { clock: around.clock, total: null, noun: "records", json };
  const bar = new ProgressBar(around.progress, options);
  const onProgress = ({ total, ...done }: MeasuringProgress) => {
    if (total !== null) bar.expect(total);
    bar.show(done);
  };
  const measuring =
    shared === null
      ? measuredFolder(asked, around, onProgress)
      : measuredRecords(chooseRecords(shared), path, onProgress);
  const usage = await measuring.finally(() => bar.end());
  if (usage === null) {
    const where = shared === null ? `in ${resolve(asked.location)}` : "in these records";
    throw new StartError(`There is no ${path?.service}/${path?.account}/${path?.name} ${where}.`);
  }
  // Rows of one place by prefix say nothing about accounts.
  const accounts = path === null ? usageByAccount(usage) : [];
  if (json) around.out(JSON.stringify(path === null ? { ...usage, accounts } : usage));
  else for (const line of renderUsage(usage, accounts)) around.out(line);
}

async function measuredFolder(
  { location, path }: UsageAsked,
  { clock, failStop, err }: CommandSurroundings,
  onProgress: (progress: MeasuringProgress) => void,
): Promise<MeasuredUsage | null> {
  const folder = resolve(location);
  await requireFolder(folder);
  const told = await runServerTask<MeasuringProgress, MeasuredUsage | null>(
    folder,
    "usage",
    path,
    onProgress,
  );
  if (told !== null) return told.result;
  const place = { location: folder, memoryBytesMax: null };
  const data = await openData(place, clock, failStop, { tell: err });
  try {
    return await finished(measureUsage(data, path), onProgress);
  } finally {
    await data.close();
  }
}

/** Reads the records in the database, in short steps; bytes are not needed. */
async function measuredRecords(
  url: string,
  path: UsagePath | null,
  onProgress: (progress: MeasuringProgress) => void,
): Promise<MeasuredUsage | null> {
  const { openRecords } = await import("./open-records.ts");
  const store = await openRecords(url, undefined, false);
  try {
    return await finished(measureUsage({ store, engine: null }, path), onProgress);
  } catch (error) {
    throw isUnreachable(error) ? new OutOfReach(`${(error as Error).message}.`) : error;
  } finally {
    await store.close();
  }
}

async function finished<Progress, Result>(
  work: AsyncGenerator<Progress, Result>,
  onProgress: (progress: Progress) => void,
): Promise<Result> {
  for (;;) {
    const step = await work.next();
    if (step.done === true) return step.value;
    onProgress(step.value);
  }
}

const TITLES: Readonly<Record<UsageKind, string>> = {
  current: "current",
  snapshots: "snapshots",
  versions: "versions",
  softDeleted: "soft-deleted",
  uncommitted: "uncommitted",
  garbage: "garbage",
};

/** A table for people: a column for each kind that occurs. */
export function renderUsage(
  { rows, total, disk }: MeasuredUsage,
  accounts: readonly AccountUsage[],
): string[] {
  const sums = [...rows.map(({ amounts }) => amounts), total];
  const kinds = USAGE_KINDS.filter((kind) => sums.some((amounts) => kind in amounts));
  const head = ["objects", "bytes", ...kinds.map((kind) => TITLES[kind]), "in"];
  const cells = (amounts: Amounts, name: string) => [
    String(Object.values(amounts).reduce((sum, { objects }) => sum + objects, 0)),
    sizeText(bytesOf(amounts)),
    ...kinds.map((kind) => sizeText(amounts[kind]?.bytes ?? null)),
    name,
  ];
  const table = [
    head,
    ...rows.map((row) => cells(row.amounts, nameOf(row))),
    ...accounts.map(({ account, amounts }) => cells(amounts, `account ${account}`)),
    cells(total, "everything"),
  ];
  return [...textTable(table, "right"), ...(disk === null ? [] : ["", diskLine(disk)])];
}

function diskLine({
  databaseBytes,
  extentBytes,
  extentBytesInUse,
}: NonNullable<MeasuredUsage["disk"]>): string {
  return (
    `On the disk: records ${sizeText(databaseBytes)}, large bodies ${sizeText(extentBytes)}, ` +
    `of which ${sizeText(Math.max(extentBytes - extentBytesInUse, 0))} are garbage or free.`
  );
}

function nameOf({ service, account, name, prefix }: UsageRow): string {
  const place = `${service}/${account}/${name}`;
  if (prefix === undefined) return place;
  return prefix === "" ? `${place}/ (beside these)` : `${place}/${prefix}`;
}

const UNITS = [
  [GIB, "GiB"],
  [MIB, "MiB"],
  [KIB, "KiB"],
] as const;

function sizeText(bytes: number | null): string {
  if (bytes === null) return "-";
  const unit = UNITS.find(([size]) => bytes >= size);
  return unit === undefined ? `${bytes} B` : `${(bytes / unit[0]).toFixed(1)} ${unit[1]}`;
}

/** Reads `blob/account/container/prefix`. Throws a `UsageError`. */
export function readUsagePath(text: string): UsagePath {
  const [service = "", account = "", name = "", ...prefix] = text.split("/");
  const known = SERVICES.find((one) => one === service);
  if (known === undefined || account === "" || name === "") {
    throw new UsageError(
      `"${text}" names no place. Use service/account/name or service/account/name/prefix/, ` +
        `where the service is ${SERVICES.join(", ")}: blob/devstoreaccount1/photos.`,
    );
  }
  const below = prefix.join("/");
  const isPrefix = below === "" || below.endsWith("/");
  return { service: known, account, name, prefix: isPrefix ? below : `${below}/` };
}
