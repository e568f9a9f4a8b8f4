import type { Body } from "../../base/bytes.ts";
import { type BodyDigests, requireDigests } from "../../base/digests.ts";
import { Fault, refuse } from "../../base/fault.ts";
import { UNCOMMITTED_BLOCKS_MAX } from "../../base/limits.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeWriteByLease } from "../../rules/lease.ts";
import type { Digests } from "../../store/contents.ts";
import type { Transaction, View } from "../../store/store.ts";
import { lookAhead } from "../shared/look-ahead.ts";
import { admitToBlob } from "./admit.ts";
import type { BlobAsked, BlobContext } from "./context.ts";
import { requireDataLakeFile } from "./data-lake-file.ts";
import { type DataLease, endLease, leaseForData, leaseIdAfter } from "./data-lease.ts";
import { keySha256Of, requireKey } from "./encryption.ts";
import type { BlobPlace } from "./find-path.ts";
import { type FlushedData, flush } from "./flush-data.ts";
import {
  type Blob,
  readStagedBlob,
  readStagedBlock,
  type StagedBlob,
  type StagedBlock,
  writeBlob,
  writeStagedBlob,
  writeStagedBlock,
} from "./records.ts";

/** Uploads bytes that become part of the file with a flush. */
export interface AppendData extends BlobAsked {
  /** Where in the file the bytes belong. */
  readonly position: number;
  readonly body: Body;
  /** The digests that the client claims for the body. */
  readonly digests: BodyDigests;
  /** The digests to compute: at least the ones given. */
  readonly computed: Digests;
  readonly leaseId: string | null;
  readonly lease: DataLease | null;
  /** Whether the bytes become part of the file at once. */
  readonly flushes: boolean;
}

export interface AppendDataDone extends BodyDigests {
  /** The file, whose ETag only a flush changes. */
  readonly blob: Blob;
  readonly isLeaseRenewed: boolean;
}

/** Appends may come in any order and at the same time: each is stored under its position. */
export async function appendData(context: BlobContext, asked: AppendData): Promise<AppendDataDone> {
  await lookAhead(context.store, asked.body, (view) => admitData(view, asked));
  const { contents, store } = context;
  const taken = await contents.take(asked.body, asked.computed, asked.key?.bytes);
  try {
    const { md5, crc64 } = taken;
    return await store.transact((tx) => {
      const admitted = admitData(tx, asked);
      requireDigests(asked.digests, taken);
      const { place, replaced } = admitted;
      const content =
        replaced === null
          ? contents.keep(tx, taken)
          : contents.replace(tx, replaced.content, taken);
      const staged = nextStaged(tx, admitted);
      writeStagedBlob(tx, place, staged);
      writeStagedBlock(tx, staged, positionKey(asked.position), {
        content,
        keySha256: keySha256Of(asked),
      });
      const blob = finish(context, tx, asked, admitted, staged);
      return { blob, md5, crc64, isLeaseRenewed: asked.lease?.action === "auto-renew" };
    });
  } finally {
    taken.release();
  }
}

interface AdmittedData {
  readonly place: BlobPlace;
  readonly blob: Blob;
  readonly staged: StagedBlob | null;
  /** Data that was appended at the same position before. */
  readonly replaced: StagedBlock | null;
}

/** The order of these checks decides which error a client sees. */
function admitData(view: View, asked: AppendData): AdmittedData {
  const { place, blob } = admitToBlob(view, asked, BLOB_NEEDS.appendData);
  requireDataLakeFile(blob);
  requireKey(blob, asked);
  const lease = leaseForData(blob.lease, asked.lease, asked.leaseId, view.now());
  const leaseId = leaseIdAfter(asked.lease, asked.leaseId);
  refuse(judgeWriteByLease(lease, leaseId, view.now(), "Blob"));
  if (asked.position < blob.content.length) {
    throw new Fault("InvalidQueryParameterValue", {
      QueryParameterName: "position",
      QueryParameterValue: String(asked.position),
      Reason: `The file already has ${blob.content.length} bytes: append behind them.`,
    });
  }
  const staged = readStagedBlob(view, place);
  const replaced =
    staged === null ? null : readStagedBlock(view, staged, positionKey(asked.position));
  if (staged !== null && replaced === null && staged.blocks >= UNCOMMITTED_BLOCKS_MAX) {
    throw new Fault("BlockCountExceedsLimit", {
      Reason: `The file has ${staged.blocks} appends that are not flushed: flush them first.`,
    });
  }
  return { place, blob: lease === blob.lease ? blob : { ...blob, lease }, staged, replaced };
}

/** Flushes if asked to, and takes the last step of the lease. */
function finish(
  context: BlobContext,
  tx: Transaction,
  asked: AppendData,
  { place, blob }: AdmittedData,
  staged: StagedBlob,
): Blob {
  const ended = endLease(blob, asked.lease, tx.now());
  if (asked.flushes) {
    const data: FlushedData = {
      position: asked.position + asked.body.length,
      retains: false,
      properties: {},
    };
    return flush(context, tx, place, ended, staged, data);
  }
  if (asked.lease !== null) writeBlob(tx, place, ended);
  return ended;
}

function nextStaged(tx: Transaction, { staged, replaced }: AdmittedData): StagedBlob {
  const now = tx.now();
  return {
    id: staged?.id ?? tx.stamp(),
    changed: tx.stamp(),
    firstMs: staged?.firstMs ?? now,
    lastMs: now,
    blocks: (staged?.blocks ?? 0) + (replaced === null ? 1 : 0),
    blockIdBytes: 0,
  };
}

/** Positions as texts, which sort as the numbers do. */
function positionKey(position: number): string {
  return String(position).padStart(16, "0");
}
