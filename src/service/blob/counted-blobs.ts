import type { Bytes } from "../../base/bytes.ts";
import { SPACE } from "../../base/keys.ts";
import { leaseIsLocked } from "../../rules/lease.ts";
import type { CountedRecords } from "../shared/counted-records.ts";
import { decodeBlob, decodeContainer } from "./records.ts";

/** Null unless the blob is a directory. */
function directoryIdOf(value: Bytes): bigint | null {
  const { path } = decodeBlob(value);
  return path === null || path.directoryId === 0n ? null : path.directoryId;
}

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
    nests: true,
    idOf: ({ value }) => directoryIdOf(value),
    count({ value }, now, tally) {
      tally.add("blobs");
      if (leaseIsLocked(decodeBlob(value).lease, now)) tally.add("blobLeases");
    },
  },
];
