import type { Instant } from "../../base/clock.ts";
import { DURATION_BOUNDS, Histogram } from "../../base/histogram.ts";

/** Transactions per group: powers of two, up to more than clients usually send at once. */
const GROUP_BOUNDS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024];
/** Seconds: a checkpoint runs in the background, a slice at a time. */
const CHECKPOINT_BOUNDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** What operators want to know about the engine, counted as it happens since the start. */
export class EngineFigures {
  /** Transactions in each group that was written to the WAL. */
  readonly groupSizes = new Histogram(GROUP_BOUNDS);
  /** Seconds from the write of a group to the WAL until it is durable. */
  readonly walWrites = new Histogram(DURATION_BOUNDS);
  /** Seconds of each durable write to an extent, and of each sync of one. */
  readonly extentSyncs = new Histogram(DURATION_BOUNDS);
  /** Seconds of each checkpoint that copied everything. */
  readonly checkpoints = new Histogram(CHECKPOINT_BOUNDS);
  /** When the last of them ended; null if none has. */
  checkpointedMs: Instant | null = null;
  walBytesWritten = 0;
  extentBytesWritten = 0;

  noteGroup(transactions: number, bytes: number, begunMs: number): void {
    this.groupSizes.observe(transactions);
    this.walBytesWritten += bytes;
    this.walWrites.observe(secondsSince(begunMs));
  }

  noteCheckpoint(begunMs: number, now: Instant): void {
    this.checkpoints.observe(secondsSince(begunMs));
    this.checkpointedMs = now;
  }

  noteExtentSync(begunMs: number): void {
    this.extentSyncs.observe(secondsSince(begunMs));
  }
}

export interface FiguresOption {
  /** Counts what happens. Default: nobody looks at it. */
  readonly figures?: EngineFigures;
}

/** How much waits for a checkpoint now. */
export interface StoreUsage {
  /** Bytes in the current WAL file, which a checkpoint will copy. */
  readonly walBytes: number;
  /** Bytes allocated to the WAL. */
  readonly walCapacity: number;
  /** Records in memory that no checkpoint has begun to copy. */
  readonly memtableRecords: number;
}

/** `begunMs` is of `performance.now()`. */
function secondsSince(begunMs: number): number {
  return (performance.now() - begunMs) / 1_000;
}
