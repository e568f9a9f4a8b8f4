import { type FileTime, fileTimeOfStamp } from "../../base/file-time.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { Directory } from "./tree-records.ts";

/** What a client may set of the properties that files and directories have over SMB. */
export interface ItemSettings {
  /** Null to leave them as they are, or as they are for what is new; so with all that follows. */
  readonly attributes: number | null;
  readonly created: TimeSetting;
  readonly written: TimeSetting;
  readonly changed: TimeSetting;
}

export type TimeSetting = FileTime | "now" | null;

/** The times of what comes into being now. */
export function timesOfNew(
  settings: ItemSettings,
  stamp: Stamp,
): Pick<Directory, "created" | "accessed" | "written" | "changed"> {
  const now = fileTimeOfStamp(stamp);
  return {
    created: timeAt(settings.created, now, now),
    accessed: now,
    written: timeAt(settings.written, now, now),
    changed: timeAt(settings.changed, now, now),
  };
}

/** `otherwise` is what holds if nothing is said. */
export function timeAt(setting: TimeSetting, now: FileTime, otherwise: FileTime): FileTime {
  if (setting === null) return otherwise;
  return setting === "now" ? now : setting;
}
