import type { Load } from "./load.ts";
import type { Reading, Readings } from "./reading.ts";
import type { RoundRobin } from "./round-robin.ts";
import type { ServerName, Servers } from "./server.ts";

/** What a measurement may use. */
export interface Bench {
  readonly servers: Servers;
  readonly load: Load;
  readonly slots: RoundRobin;
}

/** One row of the results. To add one, write it down in rows.ts. */
export interface Row {
  readonly name: string;
  readonly unit: "req/s" | "MiB/s" | "ms" | "µs" | "MiB";
  readonly servers: readonly ServerName[];
  readonly bars: readonly Bar[];
  /** Takes minutes, and runs on request only. */
  readonly isLong?: boolean;
  measure(server: ServerName, bench: Bench): Promise<Reading>;
}

export interface Verdict {
  /** Null if there was nothing to compare with. */
  readonly passed: boolean | null;
  readonly found: string;
}

export interface Bar {
  readonly text: string;
  judge(readings: Readings): Verdict;
}

/** Above this share of a core, the generator limits the throughput, not the server. */
const GENERATOR_SHARE_FULL = 0.9;

const NOTHING: Verdict = { passed: null, found: "nothing to compare with" };

/** Compares throughput, or processor time per request if the generator was the limit. */
export function timesAzurite(times: number): Bar {
  return {
    text: `≥ ${times} × Azurite`,
    judge: ({ lazuli, azurite }) => {
      if (lazuli === undefined || azurite === undefined) return NOTHING;
      const speed = lazuli.value / azurite.value;
      const isHeldBack = (lazuli.generatorShare ?? 0) >= GENERATOR_SHARE_FULL;
      const thrift = cpuRatio(azurite, lazuli);
      if (speed >= times || !isHeldBack || thrift === null) {
        return { passed: speed >= times, found: `${rounded(speed)} × throughput` };
      }
      const found = `${rounded(thrift)} × by CPU (generator full; ${rounded(speed)} × throughput)`;
      return { passed: thrift >= times, found };
    },
  };
}

export function timesSamba(times: number): Bar {
  return {
    text: `≥ ${times} × Samba`,
    judge: ({ lazuli, samba }) => {
      if (lazuli === undefined || samba === undefined) return NOTHING;
      const speed = lazuli.value / samba.value;
      return { passed: speed >= times, found: `${rounded(speed)} × throughput` };
    },
  };
}

/** Compares the work done in a second of the server's processor time. */
export function cpuTimesSamba(times: number): Bar {
  return {
    text: `≥ ${times} × Samba by CPU`,
    judge: ({ lazuli, samba }) => {
      const thrift = cpuRatio(samba, lazuli);
      return thrift === null
        ? NOTHING
        : { passed: thrift >= times, found: `${rounded(thrift)} × by CPU` };
    },
  };
}

export function cpuTimesFloor(times: number): Bar {
  return {
    text: `CPU ≤ ${times} × floor`,
    judge: ({ lazuli, floor }) => {
      const ratio = cpuRatio(lazuli, floor);
      return ratio === null
        ? NOTHING
        : { passed: ratio <= times, found: `${rounded(ratio)} × floor CPU` };
    },
  };
}

/** Compares our server with everything on that watches requests to itself without. */
export function cpuTimesUnobserved(times: number): Bar {
  return {
    text: `CPU ≤ ${times} × unobserved`,
    judge: ({ lazuli, observed }) => {
      const ratio = cpuRatio(observed, lazuli);
      return ratio === null
        ? NOTHING
        : { passed: ratio <= times, found: `${rounded(ratio)} × unobserved CPU` };
    },
  };
}

export function below(limit: number, unit: string): Bar {
  return {
    text: `< ${limit.toLocaleString("en")} ${unit}`,
    judge: ({ lazuli }) =>
      lazuli === undefined
        ? NOTHING
        : { passed: lazuli.value < limit, found: `${rounded(lazuli.value)} ${unit}` },
  };
}

export function flat(times: number): Bar {
  return {
    text: `≤ ${times} × in the small`,
    judge: ({ lazuli }) => {
      if (lazuli?.inTheSmall === undefined) return NOTHING;
      const growth = lazuli.value / lazuli.inTheSmall;
      return { passed: growth <= times, found: `${rounded(growth)} × in the small` };
    },
  };
}

export function cpuTimesBlob(times: number): Bar {
  return {
    text: `CPU ≤ ${times} × Blob`,
    judge: ({ lazuli }) => {
      const ratio = cpuRatio(lazuli, lazuli?.blob);
      return ratio === null
        ? NOTHING
        : { passed: ratio <= times, found: `${rounded(ratio)} × Blob CPU` };
    },
  };
}

export function timesBlob(times: number): Bar {
  return {
    text: `≥ ${times} × Blob`,
    judge: ({ lazuli }) => {
      if (lazuli?.blob === undefined) return NOTHING;
      const speed = lazuli.value / lazuli.blob.value;
      return { passed: speed >= times, found: `${rounded(speed)} × Blob` };
    },
  };
}

function cpuRatio(of: Reading | undefined, to: Reading | undefined): number | null {
  if (of?.cpuMicros === undefined || to?.cpuMicros === undefined) return null;
  return of.cpuMicros / to.cpuMicros;
}

/** Formats three significant digits. */
export function rounded(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}
