import type { ListedItem } from "../../../service/file/tree-records.ts";
import type { ClosedFile } from "./close.ts";
import type { FileTimes } from "./create.ts";

const DIRECTORY = 0x10;
/** Stands for no attributes; zero would mean that they stay unchanged. */
const NORMAL = 0x80;
const CLUSTER_BYTES = 4_096;

/** What a client sees of a file or directory. */
export interface ShownItem extends ClosedFile {
  readonly isDirectory: boolean;
  readonly id: bigint;
  readonly name: string;
}

export function shownItem(item: ListedItem, isDirectory: boolean): ShownItem {
  const size = "content" in item ? item.content.length : 0;
  return {
    isDirectory,
    id: item.id,
    name: item.name,
    times: timesOf(item),
    size,
    allocated: Math.ceil(size / CLUSTER_BYTES) * CLUSTER_BYTES,
    attributes: shownAttributes(item.attributes, isDirectory),
  };
}

function timesOf({ created, accessed, written, changed }: ListedItem): FileTimes {
  return { created, accessed, written, changed };
}

function shownAttributes(attributes: number, isDirectory: boolean): number {
  const shown = isDirectory ? attributes | DIRECTORY : attributes & ~DIRECTORY;
  return shown === 0 ? NORMAL : shown;
}

/** Attributes that a client may set; not the one for directories. */
const SETTABLE = 0x1 | 0x2 | 0x4 | 0x20 | 0x100 | 0x1000 | 0x2000 | 0x2_0000;

/** The attributes to set; null to leave them unchanged. */
export function askedAttributes(attributes: number): number | null {
  return attributes === 0 ? null : attributes & SETTABLE;
}
