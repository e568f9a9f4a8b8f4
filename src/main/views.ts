import { Outcomes } from "../front/outcome.ts";
import { Console } from "./console/console.ts";
import type { ServiceName } from "./flags.ts";
import { listenError } from "./listen-error.ts";
import type { Log } from "./log.ts";
import { Metrics, type MetricsSetup } from "./metrics/metrics.ts";
import type { Settings } from "./settings.ts";
import type { Undo } from "./undo.ts";

type Measured = Omit<MetricsSetup, "onError"> & Parameters<typeof Console.open>[1];
type Watched = Parameters<Metrics["watch"]>[1];

export interface ViewAddresses {
  readonly metricsOrigin: string | null;
  readonly consoleAddress: string | null;
}

/**
 * What shows a running server: metrics and the console. Made before the listeners, whose outcomes
 * and connections it counts, and opened after them.
 */
export class Views {
  readonly outcomes: Outcomes;
  readonly #metrics: Metrics | null;
  /** The metrics of the console, which nobody scrapes. */
  readonly #figures: Metrics | null;
  #console: Console | null = null;

  constructor({ metrics, console, services }: Settings, { onOutcome }: Pick<Log, "onOutcome">) {
    this.#metrics = metrics === null ? null : new Metrics(services);
    this.#figures = console === null ? null : new Metrics(services);
    this.outcomes = new Outcomes(onOutcome, this.#metrics?.onOutcome);
  }

  watch(name: ServiceName, listener: Watched): void {
    this.#metrics?.watch(name, listener);
    this.#figures?.watch(name, listener);
  }

  /** Throws a `StartError` if one of them cannot listen. */
  async open(
    settings: Settings,
    measured: Omit<Measured, "onError" | "outcomes" | "figures">,
    log: Log,
    undo: Undo,
  ): Promise<ViewAddresses> {
    const metricsOrigin = await this.#openMetrics(settings, measured, log, undo);
    if (this.#figures !== null) {
      const onError = (error: unknown) => log.warn("console", error);
      const { outcomes } = this;
      const setup = { ...measured, outcomes, figures: this.#figures, onError };
      this.#console = await Console.open(settings, setup);
      undo.add(this.#console.close);
    }
    return { metricsOrigin, consoleAddress: this.#console?.address ?? null };
  }

  /** Shows other settings from the next request on. */
  change(settings: Settings): void {
    this.#console?.change(settings);
  }

  async #openMetrics(
    { metrics: at }: Settings,
    measured: Omit<MetricsSetup, "onError">,
    log: Log,
    undo: Undo,
  ): Promise<string | null> {
    const metrics = this.#metrics;
    if (at === null || metrics === null) return null;
    const onError = (error: unknown) => log.warn("metrics", error);
    const origin = await metrics.open(at, { ...measured, onError }).catch((error) => {
      throw listenError("metrics", at, error);
    });
    undo.add(() => metrics.close());
    return origin;
  }
}
