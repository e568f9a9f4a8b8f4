import type { Clock } from "../../base/clock.ts";
import type { Schedule } from "../../base/schedule.ts";
import type { Health } from "../../front/health.ts";
import type { MetricSource } from "../../front/metrics/metric.ts";
import { openMetricsListener } from "../../front/metrics/metrics-listener.ts";
import { RequestMetrics } from "../../front/metrics/request-metrics.ts";
import { type OnOutcome, REST_SERVICE_NAMES } from "../../front/outcome.ts";
import type { ReadMemory } from "../../front/read-memory.ts";
import type { SendBudget } from "../../front/send-budget.ts";
import { ntStatusName } from "../../front/smb/nt-status.ts";
import type { WaitingWork } from "../../front/waiting-work.ts";
import type { Store } from "../../store/store.ts";
import type { ServiceName } from "../flags.ts";
import type { MetricsAt } from "../side-addresses.ts";
import { Undo } from "../undo.ts";
import { Census } from "./census.ts";
import { censusMetrics } from "./census-metrics.ts";
import { Censuses } from "./censuses.ts";
import { EngineMetrics, type SeenEngine } from "./engine-metrics.ts";
import { loadMetrics } from "./load-metrics.ts";
import { ProcessMetrics } from "./process-metrics.ts";
import { recordsMetrics, type SeenDatabase } from "./records-metrics.ts";

/** Services whose requests are measured. */
const MEASURED = [...REST_SERVICE_NAMES, "smb"] as const;

export interface MetricsSetup {
  /** The records of each database. */
  readonly stores: readonly Pick<Store, "read">[];
  /** Null for data in memory, or elsewhere. */
  readonly engine: SeenEngine | null;
  /** Records that front ends share; none for a data folder or memory. */
  sharedRecords(): readonly SeenDatabase[];
  readonly budget: Pick<SendBudget, "usage">;
  readonly work: Pick<WaitingWork, "requests">;
  readonly readMemory: Pick<ReadMemory, "bytesTaken">;
  readonly clock: Clock;
  readonly schedule: Schedule;
  /** `Lazuli/1.2.3` */
  readonly software: string;
  health(): Health;
  /** An error in a scrape. */
  onError(error: unknown): void;
}

interface Connected {
  /** The number of open connections. */
  readonly connections: number;
}

/** The metrics of a server: made before its listeners, opened after them. */
export class Metrics {
  readonly #requests: RequestMetrics;
  readonly #listeners = new Map<ServiceName, Connected>();
  readonly #undo = new Undo();

  constructor(services: readonly ServiceName[]) {
    const measured = MEASURED.filter((name) => services.includes(name));
    this.#requests = new RequestMetrics(measured, ntStatusName);
  }

  /** Counts an operation of any service. */
  get onOutcome(): OnOutcome {
    return this.#requests.take;
  }

  /** Counts the connections of a listener. */
  watch(service: ServiceName, listener: Connected): void {
    this.#listeners.set(service, listener);
  }

  /**
   * Begins to measure, and to listen. Returns `http://127.0.0.1:9464`; rejects with the system's
   * error if it cannot listen.
   */
  async open(at: MetricsAt, setup: MetricsSetup): Promise<string> {
    try {
      const { onError, health } = setup;
      const sources = this.sources(setup);
      const listener = await openMetricsListener({ ...at, sources, onError, health });
      this.#undo.add(() => listener.drain());
      return listener.origin;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#undo.run();
  }

  /** Everything that is measured, in the order in which it is shown. */
  sources(setup: MetricsSetup): readonly MetricSource[] {
    const { stores, engine, clock, schedule, software, onError, readMemory } = setup;
    const census = new Censuses(stores.map((store) => new Census({ store, schedule, onError })));
    this.#undo.add(() => census.stop());
    const process = new ProcessMetrics(software.slice(software.indexOf("/") + 1));
    this.#undo.add(async () => process.stop());
    const load = {
      ...setup,
      connections: () =>
        [...this.#listeners].map(([name, { connections }]) => [name, connections] as const),
      buffers: () => [
        ["receive", readMemory.bytesTaken] as const,
        ["disk", engine?.machine.slabBytesTaken ?? 0] as const,
      ],
    };
    return [
      this.#requests,
      censusMetrics(census, clock),
      ...(engine === null ? [] : [new EngineMetrics(engine, census)]),
      recordsMetrics(() => setup.sharedRecords()),
      loadMetrics(load),
      process,
    ];
  }
}
