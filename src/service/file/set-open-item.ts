import { Fault } from "../../base/fault.ts";
import { fileTimeOfStamp } from "../../base/file-time.ts";
import { FILE_BYTES_MAX } from "../../base/limits.ts";
import { WRITES } from "../../rules/caching.ts";
import type { Transaction } from "../../store/store.ts";
import { admitToHandle, type HandleAsked } from "./admit-handle.ts";
import { requireCachesBroken } from "./caches.ts";
import type { FileContext } from "./context.ts";
import { type ItemSettings, type TimeSetting, timeAt } from "./item-settings.ts";
import type { Tree } from "./preserved-records.ts";
import { growUsage } from "./share-usage.ts";
import { readDirectory, readFile, writeDirectory, writeFile } from "./tree-records.ts";
import { nextDirectoryVersion, nextFileVersion, writtenFile } from "./version.ts";

export interface SetOpenItem extends HandleAsked {
  readonly settings: OpenItemSettings;
}

export interface OpenItemSettings extends Omit<ItemSettings, "changed" | "permission"> {
  readonly accessed: TimeSetting;
  /** "hold" leaves the time unchanged, which every other change updates. */
  readonly changed: TimeSetting | "hold";
}

/** Sets attributes and times of an open item. */
export async function setOpenItem(context: FileContext, asked: SetOpenItem): Promise<void> {
  await context.store.transact((tx) => {
    const { tree, item, handle } = admitToHandle(tx, asked);
    if (handle.isDirectory) setDirectory(tx, tree, item.id, asked.settings);
    else setFile(context, tx, tree, item.id, asked.settings);
  });
}

function setDirectory(tx: Transaction, tree: Tree, id: bigint, settings: OpenItemSettings): void {
  const directory = readDirectory(tx, tree, id);
  const version = nextDirectoryVersion(tx, tree, directory);
  writeDirectory(tx, tree, { ...directory, ...version, ...changed(settings, directory, version) });
}

function setFile(
  { contents }: FileContext,
  tx: Transaction,
  tree: Tree,
  id: bigint,
  settings: OpenItemSettings,
): void {
  const file = readFile(tx, tree, id);
  const version = nextFileVersion(tx, tree, contents, file);
  writeFile(tx, tree, { ...file, ...version, ...changed(settings, file, version) });
}

type Changed = Record<"created" | "accessed" | "written" | "changed", bigint> & {
  readonly attributes: number;
};

function changed(settings: OpenItemSettings, old: Changed, { etag }: { etag: bigint }): Changed {
  const now = fileTimeOfStamp(etag);
  return {
    attributes: settings.attributes ?? old.attributes,
    created: timeAt(settings.created, now, old.created),
    accessed: timeAt(settings.accessed, now, old.accessed),
    written: timeAt(settings.written, now, old.written),
    changed: settings.changed === "hold" ? old.changed : timeAt(settings.changed, now, now),
  };
}

export interface ResizeOpenFile extends HandleAsked {
  readonly length: number;
  /** Whether a shorter file stays as it is. */
  readonly neverGrows: boolean;
  /** Whether to preserve the time of the last write. */
  readonly preservesWritten: boolean;
}

/** Truncates an open file, or extends it with zeroes. */
export async function resizeOpenFile(context: FileContext, asked: ResizeOpenFile): Promise<void> {
  const { contents, store } = context;
  if (asked.length > FILE_BYTES_MAX) throw new Fault("OutOfRangeInput");
  await store.transact((tx) => {
    const { share, tree, item, handle, opens } = admitToHandle(tx, asked);
    if (handle.isDirectory) throw new Fault("ResourceTypeMismatch");
    requireCachesBroken(tx, item, opens, handle.cache, WRITES);
    const file = readFile(tx, tree, item.id);
    const { length } = file.content;
    if (length === asked.length || (asked.neverGrows && length < asked.length)) return;
    const version = nextFileVersion(tx, tree, contents, file);
    const written = asked.preservesWritten ? file.written : fileTimeOfStamp(version.etag);
    growUsage(tx, share, file.id, asked.length - file.content.length);
    const content = contents.maps.resize(tx, file.content, asked.length);
    writeFile(tx, tree, writtenFile(file, version, written, content));
  });
}
