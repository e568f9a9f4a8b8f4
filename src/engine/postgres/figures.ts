import { DURATION_BOUNDS, Histogram } from "../../base/histogram.ts";

/** Transactions per group: powers of two, up to the most that a group takes. */
const GROUP_BOUNDS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024];

/** What operators want to know about records in a database, counted since it was opened. */
export class PostgresFigures {
  /** Seconds of each round trip that brings news and records. */
  readonly reads = new Histogram(DURATION_BOUNDS);
  /** Seconds of each group commit, from asking for the write lock until it is acknowledged. */
  readonly commits = new Histogram(DURATION_BOUNDS);
  /** Transactions in each of them. */
  readonly groupSizes = new Histogram(GROUP_BOUNDS);
  /** Reads that found all records in the cache, and those for which some were fetched. */
  readsFromCache = 0;
  readsWithFetch = 0;
  connectionsLost = 0;
  /** Commits whose answer was lost, so that the front end had to look whether they took effect. */
  answersLost = 0;

  noteRead(begunMs: number): void {
    this.reads.observe(secondsSince(begunMs));
  }

  noteCommit(transactions: number, begunMs: number): void {
    this.groupSizes.observe(transactions);
    this.commits.observe(secondsSince(begunMs));
  }
}

function secondsSince(begunMs: number): number {
  return (performance.now() - begunMs) / 1_000;
}
