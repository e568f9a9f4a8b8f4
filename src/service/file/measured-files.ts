import type { Bytes } from "../../base/bytes.ts";
import { KeyReader, SPACE } from "../../base/keys.ts";
import type { Measured, MeasuredRecords } from "../shared/measured-records.ts";
import { spaceOfPreserved } from "./preserved-records.ts";
import { decodeShare, deletedShareOfEntry } from "./records.ts";
import { decodeDirectory, decodeFile, ROOT_ID } from "./tree-records.ts";

export const MEASURED_FILES: readonly MeasuredRecords[] = [
  {
    space: SPACE.share,
    measure: ({ key, value }) => share(key, decodeShare(value).id, "current"),
  },
  {
    space: SPACE.deletedShare,
    measure(entry, now) {
      const { share: deleted, untilMs } = deletedShareOfEntry(entry).deleted;
      return share(entry.key, deleted.id, untilMs > now ? "softDeleted" : "garbage");
    },
  },
  {
    space: SPACE.directory,
    measure({ key, value }) {
      const { id, parent, name } = decodeDirectory(value);
      if (id === ROOT_ID) return null;
      return { is: "holder", id, parent: holderOf(key, parent), name, kind: "current" };
    },
  },
  {
    space: SPACE.file,
    measure({ key, value }) {
      const { parent, name, content } = decodeFile(value);
      const bytes = content.length;
      return { is: "object", parent: holderOf(key, parent), name, kind: "current", bytes };
    },
  },
  {
    space: SPACE.preservedRecord,
    /** What only snapshots of the share still show, counted for the share as a whole. */
    measure({ key, value }) {
      if (spaceOfPreserved(key) !== SPACE.file) return null;
      const parent = new KeyReader(key).u64();
      const bytes = decodeFile(value).content.length;
      return { is: "object", parent, name: null, kind: "snapshots", bytes };
    },
  },
];

/** The root directories of all shares have the same id, so the share stands for its root. */
function holderOf(key: Bytes, parent: bigint): bigint {
  return parent === ROOT_ID ? new KeyReader(key).u64() : parent;
}

function share(key: Bytes, id: bigint, kind: "current" | "softDeleted" | "garbage"): Measured {
  const parts = new KeyReader(key);
  const account = parts.text();
  return { is: "place", service: "file", account, name: parts.text(), id, kind };
}
