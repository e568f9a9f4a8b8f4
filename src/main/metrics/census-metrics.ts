import type { Clock } from "../../base/clock.ts";
import { labelled, type Metric, type MetricSource, single } from "../../front/metrics/metric.ts";
import type { Counted } from "../../service/shared/counted-records.ts";
import type { Census, CensusFigures } from "./census.ts";

type SeenCensus = Pick<Census, "figures" | "refresh">;

const LEASES = [
  ["container", "containerLeases"],
  ["blob", "blobLeases"],
  ["share", "shareLeases"],
  ["file", "fileLeases"],
] as const;

const OBJECTS = [
  ["container", "containers"],
  ["blob", "blobs"],
  ["queue", "queues"],
  ["table", "tables"],
  ["share", "shares"],
  ["file", "files"],
] as const;

const MESSAGES = [
  ["visible", "visibleMessages"],
  ["hidden", "hiddenMessages"],
] as const;

/** What a census has counted. Nothing is shown before the first one has ended. */
export function censusMetrics(census: SeenCensus, clock: Clock): MetricSource {
  const metrics = [...storedMetrics(census, clock), ...roundMetrics(census)];
  return { metrics, refresh: () => census.refresh() };
}

function storedMetrics(census: SeenCensus, clock: Clock): Metric[] {
  const counts = (
    name: string,
    help: string,
    label: string,
    all: readonly (readonly [string, Counted])[],
  ) =>
    labelled("gauge", name, help, label, () => {
      const { figures } = census;
      return figures === null ? [] : all.map(([value, one]) => [value, figures.count(one)]);
    });
  const figure = (name: string, help: string, read: (figures: CensusFigures) => number) =>
    single("gauge", name, help, () => {
      return census.figures === null ? undefined : read(census.figures);
    });
  return [
    counts("lazuli_leases", "Leases in force, by the kind of object.", "object", LEASES),
    counts("lazuli_objects", "Stored objects, by kind.", "object", OBJECTS),
    figure("lazuli_open_handles", "Files and directories that SMB clients have open.", (one) =>
      one.count("openHandles"),
    ),
    figure("lazuli_range_locks", "Byte ranges that SMB clients have locked.", (one) =>
      one.count("rangeLocks"),
    ),
    counts("lazuli_queue_messages", "Messages of all queues, by state.", "state", MESSAGES),
    figure(
      "lazuli_queue_oldest_message_age_seconds",
      "Time since the oldest message of all queues was put; 0 if there is none.",
      ({ oldestMessageMs }) =>
        oldestMessageMs === null ? 0 : Math.max(0, clock.now() - oldestMessageMs) / 1_000,
    ),
  ];
}

function roundMetrics(census: SeenCensus): Metric[] {
  const figure = (name: string, help: string, read: (figures: CensusFigures) => number) =>
    single("gauge", name, help, () => {
      return census.figures === null ? undefined : read(census.figures);
    });
  return [
    figure(
      "lazuli_census_timestamp_seconds",
      "When the last count of leases, handles, locks, messages and live bytes ended.",
      ({ endedMs }) => endedMs / 1_000,
    ),
    figure("lazuli_census_duration_seconds", "How long that count took.", (one) => {
      return (one.endedMs - one.begunMs) / 1_000;
    }),
    figure("lazuli_census_records", "How many records it has read.", (one) => one.records),
  ];
}
