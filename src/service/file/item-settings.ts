import { type FileTime, fileTimeOfStamp } from "../../base/file-time.ts";
import type { Stamp } from "../../base/stamp.ts";
import { FILE_ATTRIBUTES } from "../../rules/file-attributes.ts";
import type { Transaction } from "../../store/store.ts";
import { type PermissionSetting, resolvePermission } from "./permissions.ts";
import type { Tree } from "./preserved-records.ts";
import type { Directory } from "./tree-records.ts";
import type { DirectoryVersion } from "./version.ts";

/** The SMB properties of a file or directory that a client may set. */
export interface ItemSettings {
  /**
   * Null, here and in all fields below, leaves the value unchanged, or takes the default for a new
   * item.
   */
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

/** The times of a new item. */
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

/** The changed properties of an existing item, whose new version is `version`. */
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

/** Clients cannot set the attribute Directory: it follows from the kind of the item. */
export function attributesOf(asked: number, isDirectory: boolean): number {
  const { Directory } = FILE_ATTRIBUTES;
  return isDirectory ? asked | Directory : asked & ~Directory;
}

/** The time that a setting names; `otherwise` if it names none. */
export function timeAt(setting: TimeSetting, now: FileTime, otherwise: FileTime): FileTime {
  if (setting === null) return otherwise;
  return setting === "now" ? now : setting;
}
