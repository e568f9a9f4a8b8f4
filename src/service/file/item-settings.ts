import { type FileTime, fileTimeOfStamp } from "../../base/file-time.ts";
import type { Stamp } from "../../base/stamp.ts";
import { FILE_ATTRIBUTES } from "../../rules/file-attributes.ts";
import type { Transaction } from "../../store/store.ts";
import type { Tree } from "./kept-records.ts";
import { type PermissionSetting, resolvePermission } from "./permissions.ts";
import type { Directory } from "./tree-records.ts";
import type { DirectoryVersion } from "./version.ts";

/** What a client may set of the properties that files and directories have over SMB. */
export interface ItemSettings {
  /** Null to leave them as they are, or as they are for what is new; so with all that follows. */
  readonly attributes: number | null;
  readonly created: TimeSetting;
  readonly written: TimeSetting;
  readonly changed: TimeSetting;
  readonly permission: PermissionSetting | null;
}

export const NO_SETTINGS: ItemSettings = {
  attributes: null,
  created: null,
  written: null,
  changed: null,
  permission: null,
};

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

/** What a client changes of a file or directory that is there, whose new version is `version`. */
export function changedSettings(
  tx: Transaction,
  tree: Tree,
  item: Directory,
  settings: ItemSettings,
  version: DirectoryVersion,
): Pick<Directory, "attributes" | "created" | "written" | "changed" | "permissionKey"> {
  const now = fileTimeOfStamp(version.etag);
  const isDirectory = (item.attributes & FILE_ATTRIBUTES.Directory) !== 0;
  const { attributes, permission } = settings;
  return {
    attributes: attributes === null ? item.attributes : attributesOf(attributes, isDirectory),
    created: timeAt(settings.created, now, item.created),
    written: timeAt(settings.written, now, item.written),
    changed: timeAt(settings.changed, now, version.changed),
    permissionKey:
      permission === null
        ? item.permissionKey
        : resolvePermission(tx, tree, permission, item.parent, isDirectory),
  };
}

/** Whether something is a directory is not the client's to say. */
export function attributesOf(asked: number, isDirectory: boolean): number {
  const { Directory } = FILE_ATTRIBUTES;
  return isDirectory ? asked | Directory : asked & ~Directory;
}

/** `otherwise` is what holds if nothing is said. */
export function timeAt(setting: TimeSetting, now: FileTime, otherwise: FileTime): FileTime {
  if (setting === null) return otherwise;
  return setting === "now" ? now : setting;
}
