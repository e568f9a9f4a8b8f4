import type { ChangedPart, ChangedPlace, FileChange } from "../../service/file/file-changes.ts";
import { NOTICE, NOTIFY, type Notice } from "./codec/change-notify.ts";

/** The changes that a client watches. */
export interface Watching {
  readonly directory: bigint;
  /** Whether everything below the directory is watched, too. */
  readonly recursive: boolean;
  /** Bits of `NOTIFY`. */
  readonly filter: number;
}

const BIT_OF_PART: Readonly<Record<ChangedPart, number>> = {
  attributes: NOTIFY.attributes,
  size: NOTIFY.size,
  written: NOTIFY.lastWrite,
  accessed: NOTIFY.lastAccess,
  created: NOTIFY.creation,
  metadata: NOTIFY.extendedAttributes,
  permission: NOTIFY.security,
};

/** Translates a change into the notices that this client watches. */
export function noticesOf(watching: Watching, change: FileChange): Notice[] {
  // Changes of handles do not change a directory.
  if (!("at" in change)) return [];
  const { filter } = watching;
  const notice = (action: Notice["action"], place: ChangedPlace, bits: number): Notice[] => {
    const name = (filter & bits) === 0 ? null : nameIn(watching, place);
    return name === null ? [] : [{ action, name }];
  };
  if (change.kind === "modified") {
    const bits = [...change.parts].reduce((sum, part) => sum | BIT_OF_PART[part], 0);
    return notice(NOTICE.modified, change.at, bits);
  }
  const { at, isDirectory } = change;
  const nameBit = isDirectory ? NOTIFY.directoryName : NOTIFY.fileName;
  if (change.kind !== "moved") return notice(NOTICE[change.kind], at, nameBit);
  const { from } = change;
  const stays = from.directories.at(-1) === at.directories.at(-1);
  return [
    ...notice(stays ? NOTICE.oldName : NOTICE.removed, from, nameBit),
    ...notice(stays ? NOTICE.newName : NOTICE.added, at, nameBit),
    // Windows reports this for moved files, and programs rely on it.
    ...(isDirectory ? [] : notice(NOTICE.modified, at, NOTIFY.attributes | NOTIFY.creation)),
  ];
}

/** A name relative to the watched directory; null if it is not in there. */
function nameIn({ directory, recursive }: Watching, place: ChangedPlace): string | null {
  const { directories, path } = place;
  const level = directories.lastIndexOf(directory);
  if (level < 0 || (!recursive && level !== directories.length - 1)) return null;
  return path.slice(level).join("\\");
}
