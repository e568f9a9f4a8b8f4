import type { Histogram } from "../../base/histogram.ts";
import type { PostgresFigures } from "../../engine/postgres/figures.ts";
import type { Metric, MetricSource, Sample } from "../../front/metrics/metric.ts";

/** What can be seen of records in a database. */
export interface SeenRecords {
  readonly figures: PostgresFigures;
  readonly cacheBytes: number;
}

/** Records that front ends share, by the name of their database. */
export interface SeenDatabase {
  readonly name: string;
  /** Why requests to it would fail; null if they succeed. */
  readonly outage: string | null;
  /** Null while it is not open. */
  readonly records: SeenRecords | null;
}

const LABELS = ["database"];

/** Round trips, commits and caches of shared records. Other data has none of them. */
export function recordsMetrics(databases: () => readonly SeenDatabase[]): MetricSource {
  const of =
    <T>(read: (seen: SeenRecords) => T) =>
    (): Sample<T>[] =>
      databases().flatMap(({ name, records }) =>
        records === null ? [] : [[[name], read(records)]],
      );
  const histogram = (name: string, help: string, read: (figures: PostgresFigures) => Histogram) =>
    ({
      type: "histogram",
      name,
      help,
      labels: LABELS,
      read: of((seen) => read(seen.figures)),
    }) as const;
  const counter = (name: string, help: string, read: (figures: PostgresFigures) => number) =>
    ({
      type: "counter",
      name,
      help,
      labels: LABELS,
      read: of((seen) => read(seen.figures)),
    }) as const;
  const metrics: Metric[] = [
    {
      type: "gauge",
      name: "lazuli_database_ready",
      help: "1 if a database of shared records and its bytes can be reached, 0 if not.",
      labels: LABELS,
      read: () => databases().map(({ name, outage }) => [[name], Number(outage === null)]),
    },
    histogram(
      "lazuli_records_read_duration_seconds",
      "Round trips to a database that bring news and missing records, each for all calls that wait.",
      ({ reads }) => reads,
    ),
    histogram(
      "lazuli_records_commit_duration_seconds",
      "Group commits of a database, from asking for its write lock until they are acknowledged.",
      ({ commits }) => commits,
    ),
    histogram(
      "lazuli_records_commit_group_transactions",
      "Transactions in each of these commits.",
      ({ groupSizes }) => groupSizes,
    ),
    {
      type: "counter",
      name: "lazuli_records_reads_total",
      help: "Reads, by where their records were: all in the cache, or some in the database.",
      labels: ["database", "from"],
      read: () =>
        databases().flatMap(({ name, records }) =>
          records === null
            ? []
            : [
                [[name, "cache"], records.figures.readsFromCache],
                [[name, "database"], records.figures.readsWithFetch],
              ],
        ),
    },
    {
      type: "gauge",
      name: "lazuli_records_cache_bytes",
      help: "Memory of the cache of a database's records.",
      labels: LABELS,
      read: of(({ cacheBytes }) => cacheBytes),
    },
    counter(
      "lazuli_records_connections_lost_total",
      "Connections to a database that were lost, and made anew.",
      ({ connectionsLost }) => connectionsLost,
    ),
    counter(
      "lazuli_records_answers_lost_total",
      "Commits whose answer was lost, so that the front end looked whether they took effect.",
      ({ answersLost }) => answersLost,
    ),
  ];
  return { metrics };
}
