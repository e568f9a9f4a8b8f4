import type { ServerName } from "./server.ts";

/** The result of a server in one row. */
export interface Reading {
  /** In the unit of the row. */
  readonly value: number;
  /** Processor time of the server for each request. */
  readonly cpuMicros?: number;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  /** Processor time of the load generator, as a share of one core. */
  readonly generatorShare?: number;
  /** The same figure for few objects, for rows that must not grow. */
  readonly inTheSmall?: number;
  /** The result of the counterpart in the Blob service. */
  readonly blob?: Reading;
  readonly note?: string;
}

export type Readings = Readonly<Partial<Record<ServerName, Reading>>>;
