import { KeyReader, SPACE } from "../../base/keys.ts";
import { unlessDamaged, type View } from "../../store/store.ts";
import { heldLease } from "../shared/held-lease.ts";
import type { Found, HeldRecords } from "../shared/holder-scan.ts";
import {
  type BlobCopy,
  blobKey,
  decodeBlob,
  decodeContainer,
  decodePendingCopy,
  isExpired,
  type PendingCopy,
  type Place,
  readBlob,
} from "./records.ts";

/** Leases of containers and blobs, and copies to blobs that are under way. */
export const HELD_BLOBS: readonly HeldRecords[] = [
  {
    space: SPACE.container,
    find(_, { key, value }, now) {
      const { id, lease } = decodeContainer(value);
      const parts = new KeyReader(key);
      const named: Found = { id, account: parts.text(), name: parts.text() };
      const held = heldLease("container", lease, now);
      return held === null ? [named] : [named, { held, below: id, path: "" }];
    },
  },
  {
    space: SPACE.blob,
    find(_, { key, value }, now) {
      const blob = decodeBlob(value);
      const directory = blob.path?.directoryId ?? 0n;
      if (directory === 0n && blob.lease === null) return [];
      const parts = new KeyReader(key);
      const [below, name] = [parts.u64(), parts.text()];
      const held = isExpired(blob, now) ? null : heldLease("blob", blob.lease, now);
      return [
        ...(directory === 0n ? [] : [{ id: directory, below, name }]),
        ...(held === null ? [] : [{ held, below, path: name }]),
      ];
    },
  },
  {
    space: SPACE.pendingCopy,
    recordsPerStep: 100,
    needs: ({ value }) => [blobKey(placeOf(decodePendingCopy(value)))],
    find(view, { value }) {
      const pending = decodePendingCopy(value);
      const copy = unlessDamaged(() => copyTo(view, pending));
      if (copy === null || copy.status !== "pending") return [];
      const { id, source, bytesDone, bytesTotal } = copy;
      const { account, container, blob: path } = pending;
      const held = { kind: "copy" as const, object: "blob" as const };
      return [
        {
          held: { ...held, id, source, bytesDone, bytesTotal },
          at: { account, container, path },
        },
      ];
    },
  },
];

function copyTo(view: View, pending: PendingCopy): BlobCopy | null {
  return readBlob(view, placeOf(pending))?.copy ?? null;
}

function placeOf({ parent, name }: PendingCopy): Place {
  return { parent: { id: parent }, name };
}
