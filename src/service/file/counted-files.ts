import { SPACE } from "../../base/keys.ts";
import { leaseIsLocked } from "../../rules/lease.ts";
import type { CountedRecords } from "../shared/counted-records.ts";
import { decodeShare } from "./records.ts";
import { decodeFile } from "./tree-records.ts";

export const COUNTED_FILES: readonly CountedRecords[] = [
  {
    space: SPACE.share,
    idOf: ({ value }) => decodeShare(value).id,
    count({ value }, now, tally) {
      tally.add("shares");
      if (leaseIsLocked(decodeShare(value).lease, now)) tally.add("shareLeases");
    },
  },
  {
    space: SPACE.file,
    parent: SPACE.share,
    count({ value }, now, tally) {
      tally.add("files");
      if (leaseIsLocked(decodeFile(value).lease, now)) tally.add("fileLeases");
    },
  },
  {
    space: SPACE.handle,
    count(_, __, tally) {
      tally.add("openHandles");
    },
  },
  {
    space: SPACE.rangeLock,
    count(_, __, tally) {
      tally.add("rangeLocks");
    },
  },
];
