import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import { KeyReader, SPACE, type Space } from "../../base/keys.ts";
import type { Entry } from "../../store/entry.ts";
import type { Measured, MeasuredRecords } from "../shared/measured-records.ts";
import type { UsageKind } from "../shared/usage-row.ts";
import {
  type Blob,
  decodeBlob,
  decodeContainer,
  decodeDeletedContainer,
  decodeStagedBlob,
  decodeStagedBlock,
  isExpired,
} from "./records.ts";
import { decodeDeleted } from "./revision-records.ts";

/** Blobs, snapshots, versions, soft-deleted ones and uncommitted blocks. */
export const MEASURED_BLOBS: readonly MeasuredRecords[] = [
  {
    space: SPACE.container,
    measure: ({ key, value }) => container(key, decodeContainer(value).id, "current"),
  },
  {
    space: SPACE.deletedContainer,
    measure({ key, value }, now) {
      const deleted = decodeDeletedContainer(value);
      const kind = deleted.untilMs > now ? "softDeleted" : "garbage";
      return container(key, deleted.container.id, kind);
    },
  },
  {
    space: SPACE.blob,
    measure({ key, value }, now) {
      const blob = decodeBlob(value);
      return measuredBlob(key, blob, isExpired(blob, now) ? "garbage" : "current");
    },
  },
  revisions(SPACE.blobSnapshot, "snapshots"),
  revisions(SPACE.blobVersion, "versions"),
  ...[SPACE.deletedBlob, SPACE.deletedRevision, SPACE.deletedPath].map(deletedRevisions),
  {
    space: SPACE.stagedBlob,
    measure({ key, value }) {
      const parts = new KeyReader(key);
      const { id } = decodeStagedBlob(value);
      return { is: "holder", id, parent: parts.u64(), name: null, kind: "uncommitted" };
    },
  },
  {
    space: SPACE.stagedBlock,
    measure({ key, value }) {
      const parent = new KeyReader(key).u64();
      const bytes = decodeStagedBlock(value).content.length;
      return { is: "object", parent, name: null, kind: "uncommitted", bytes };
    },
  },
];

function container(key: Bytes, id: bigint, kind: "current" | "softDeleted" | "garbage"): Measured {
  const parts = new KeyReader(key);
  const account = parts.text();
  return { is: "place", service: "blob", account, name: parts.text(), id, kind };
}

function revisions(space: Space, kind: UsageKind): MeasuredRecords {
  return { space, measure: ({ key, value }) => measuredBlob(key, decodeBlob(value), kind) };
}

function deletedRevisions(space: Space): MeasuredRecords {
  return {
    space,
    measure({ key, value }: Entry, now: Instant) {
      const { blob, untilMs } = decodeDeleted(value);
      return measuredBlob(key, blob, untilMs > now ? "softDeleted" : "garbage");
    },
  };
}

function measuredBlob(key: Bytes, { path, content }: Blob, kind: UsageKind): Measured {
  const parts = new KeyReader(key);
  const parent = parts.u64();
  const name = parts.text();
  const id = path?.directoryId ?? 0n;
  if (id !== 0n) return { is: "holder", id, parent, name, kind };
  return { is: "object", parent, name, kind, bytes: content.length };
}
