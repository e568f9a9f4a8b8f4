import type { Histogram } from "../../base/histogram.ts";
import type { DiskSpace, SpaceFigures } from "../../engine/embedded/disk-space.ts";
import type { EngineFigures } from "../../engine/embedded/engine-figures.ts";
import type { EmbeddedStore } from "../../engine/embedded/store.ts";
import {
  type HistogramMetric,
  labelled,
  type Metric,
  type MetricSource,
  type Sample,
  single,
} from "../../front/metrics/metric.ts";
import type { Machine } from "../../machine/machine.ts";
import type { Extents } from "../../store/extents.ts";
import type { Census } from "./census.ts";

/** What can be seen of an engine with a data folder. */
export interface SeenEngine {
  readonly figures: EngineFigures;
  readonly store: Pick<EmbeddedStore, "usage">;
  /** Null if they are not files of this machine. */
  readonly extents: Pick<Extents, "list" | "pin"> | null;
  readonly space: Pick<DiskSpace, "measure" | "isShort">;
  readonly machine: Pick<Machine, "slabBytesTaken">;
}

type SeenCensus = Pick<Census, "figures">;

/** Commits, write-ahead log, extents and disk. Data in memory has none of them. */
export class EngineMetrics implements MetricSource {
  readonly metrics: readonly Metric[];
  readonly #engine: SeenEngine;
  #space: SpaceFigures | null = null;

  constructor(engine: SeenEngine, census: SeenCensus) {
    this.#engine = engine;
    this.metrics = [
      ...commitMetrics(engine),
      ...extentMetrics(engine, census),
      ...this.#spaceMetrics(),
    ];
  }

  async refresh(): Promise<void> {
    this.#space = await this.#engine.space.measure();
  }

  #spaceMetrics(): Metric[] {
    const figure = (name: string, help: string, part: keyof SpaceFigures) =>
      single("gauge", name, help, () => this.#space?.[part]);
    return [
      figure("lazuli_database_bytes", "Size of the database file.", "databaseBytes"),
      figure("lazuli_database_free_bytes", "Free pages in that file.", "databaseFreeBytes"),
      figure("lazuli_disk_size_bytes", "Size of the data folder's volume.", "volumeBytes"),
      figure("lazuli_disk_free_bytes", "Free space of that volume.", "freeBytes"),
      figure("lazuli_disk_reserve_bytes", "Space kept free for a full disk.", "reserveBytes"),
      single("gauge", "lazuli_disk_full", "1 while writes that need space are refused.", () =>
        Number(this.#engine.space.isShort),
      ),
    ];
  }
}

function commitMetrics({ figures, store }: SeenEngine): Metric[] {
  return [
    histogram(
      "lazuli_commit_group_transactions",
      "Transactions that became durable together, for each group commit.",
      [],
      () => [[[], figures.groupSizes]],
    ),
    histogram(
      "lazuli_fsync_duration_seconds",
      "Durable writes and syncs, by file: the write-ahead log (wal) or an extent.",
      ["file"],
      () => [
        [["wal"], figures.walWrites],
        [["extent"], figures.extentSyncs],
      ],
    ),
    single("counter", "lazuli_wal_written_bytes_total", "Records written to the log.", () => {
      return figures.walBytesWritten;
    }),
    single("gauge", "lazuli_wal_bytes", "Size of the log since the last checkpoint began.", () => {
      return store.usage.walBytes;
    }),
    single("gauge", "lazuli_wal_capacity_bytes", "Space allocated to the log.", () => {
      return store.usage.walCapacity;
    }),
    single("gauge", "lazuli_memtable_records", "Records that wait for a checkpoint.", () => {
      return store.usage.memtableRecords;
    }),
    histogram("lazuli_checkpoint_duration_seconds", "Checkpoints of the log.", [], () => [
      [[], figures.checkpoints],
    ]),
    single("gauge", "lazuli_checkpoint_timestamp_seconds", "When the last one ended.", () => {
      return figures.checkpointedMs === null ? undefined : figures.checkpointedMs / 1_000;
    }),
  ];
}

function extentMetrics({ figures, extents }: SeenEngine, census: SeenCensus): Metric[] {
  const infos = () => extents?.list() ?? [];
  const count = (isOpen: boolean) => infos().filter(({ open }) => open === isOpen).length;
  return [
    labelled("gauge", "lazuli_extents", "Files of bulk data, by state.", "state", () => [
      ["open", count(true)],
      ["sealed", count(false)],
    ]),
    labelled(
      "gauge",
      "lazuli_extent_bytes",
      "Bytes in extents: live, or dead and to be reclaimed. Counted by the census.",
      "state",
      () => {
        if (census.figures === null) return [];
        const all = infos().reduce((sum, { bytesOnDisk }) => sum + bytesOnDisk, 0);
        const { liveBytes } = census.figures;
        return [
          ["live", liveBytes],
          ["dead", Math.max(0, all - liveBytes)],
        ];
      },
    ),
    single("counter", "lazuli_extent_written_bytes_total", "Bytes written to extents.", () => {
      return figures.extentBytesWritten;
    }),
  ];
}

function histogram(
  name: string,
  help: string,
  labels: readonly string[],
  read: () => Iterable<Sample<Histogram>>,
): HistogramMetric {
  return { type: "histogram", name, help, labels, read };
}
