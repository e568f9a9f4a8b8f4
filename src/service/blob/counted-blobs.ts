import { SPACE } from "../../base/keys.ts";
import { leaseIsLocked } from "../../rules/lease.ts";
import type { CountedRecords } from "../shared/counted-records.ts";
import { decodeBlob, decodeContainer } from "./records.ts";

export const COUNTED_BLOBS: readonly CountedRecords[] = [
  {
    space: SPACE.container,
    idOf: ({ value }) => decodeContainer(value).id,
    count({ value }, now, tally) {
      tally.add("containers");
      if (leaseIsLocked(decodeContainer(value).lease, now)) tally.add("containerLeases");
    },
  },
  {
    space: SPACE.blob,
    parent: SPACE.container,
    count({ value }, now, tally) {
      tally.add("blobs");
      if (leaseIsLocked(decodeBlob(value).lease, now)) tally.add("blobLeases");
    },
  },
];
