import { ApiCalls } from "../front/console/api-calls.ts";
import { error, parsedJson } from "../front/console/reply.ts";
import { Outcomes } from "../front/outcome.ts";
import type { AdminAnswer, AdminQuestion } from "../front/rest/http/admin.ts";
import { Console } from "./console/console.ts";
import { type FactsSetup, ServerFacts } from "./console/server-facts.ts";
import type { ServiceName } from "./flags.ts";
import { listenError } from "./listen-error.ts";
import type { Log } from "./log.ts";
import { Metrics, type MetricsSetup } from "./metrics/metrics.ts";
import type { Settings } from "./settings.ts";
import type { Undo } from "./undo.ts";

type Measured = Omit<MetricsSetup, "onError"> & FactsSetup;
type Watched = Parameters<Metrics["watch"]>[1];

export interface ViewAddresses {
  readonly metricsOrigin: string | null;
  readonly consoleAddress: string | null;
}

/** The session of a caller with the token of the data folder: it sees everything. */
const OPERATOR = { account: null };
const STARTING = error(503, "Starting", "The server is starting. Ask again.");

/**
 * What shows a running server: metrics, the console, and its API for commands. Made before the
 * listeners, whose outcomes and connections it counts, and opened after them.
 */
export class Views {
  readonly outcomes: Outcomes;
  readonly #metrics: Metrics | null;
  /** The metrics of the console, which nobody scrapes. */
  readonly #figures: Metrics;
  #facts: ServerFacts | null = null;
  #calls: ApiCalls | null = null;
  #console: Console | null = null;

  constructor({ metrics, services }: Settings, { onOutcome }: Pick<Log, "onOutcome">) {
    this.#metrics = metrics === null ? null : new Metrics(services);
    this.#figures = new Metrics(services);
    this.outcomes = new Outcomes(onOutcome, this.#metrics?.onOutcome);
  }

  watch(name: ServiceName, listener: Watched): void {
    this.#metrics?.watch(name, listener);
    this.#figures.watch(name, listener);
  }

  /** Throws a `StartError` if one of them cannot listen. */
  async open(
    settings: Settings,
    measured: Omit<Measured, "onError" | "outcomes" | "figures">,
    log: Log,
    undo: Undo,
  ): Promise<ViewAddresses> {
    const metricsOrigin = await this.#openMetrics(settings, measured, log, undo);
    const onError = (error: unknown) => log.warn("console", error);
    const { outcomes } = this;
    const { clock } = measured;
    const facts = new ServerFacts(settings, {
      ...measured,
      outcomes,
      figures: this.#figures,
      onError,
    });
    undo.add(() => facts.end());
    const calls = new ApiCalls(facts, clock);
    this.#facts = facts;
    this.#calls = calls;
    if (settings.console !== null) {
      const setup = { clock, outcomes, facts, calls, onError };
      this.#console = await Console.open(settings, settings.console, setup);
      undo.add(this.#console.close);
    }
    return { metricsOrigin, consoleAddress: this.#console?.address ?? null };
  }

  /** Answers a command on this machine, as the console answers its operator. */
  async answer({ body, ...asked }: AdminQuestion): Promise<AdminAnswer> {
    const json = parsedJson(body);
    const reply = await this.#calls?.answer(OPERATOR, { ...asked, json });
    const { status, json: told } = reply ?? STARTING;
    return { status, body: JSON.stringify(told), type: "application/json" };
  }

  /** Shows other settings from the next request on. */
  change(settings: Settings): void {
    if (this.#facts !== null) this.#facts.settings = settings;
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
