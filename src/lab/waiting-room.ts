import type { Schedule } from "../base/schedule.ts";
import type { ActiveRule, SeenRequest } from "./active-rules.ts";
import { LabError } from "./lab-error.ts";
import type { Point } from "./rule.ts";

/** A request that a rule holds. */
interface Waiting {
  readonly id: number;
  readonly rule: number;
  readonly at: Point;
  readonly request: SeenRequest;
  readonly sinceMs: number;
  end(): void;
}

/** A held request in answers of the API. */
export interface ShownWaiting {
  readonly id: number;
  readonly rule: number;
  readonly at: Point;
  readonly service: string;
  readonly operation: string;
  readonly method: string;
  readonly account: string;
  readonly container: string;
  readonly object: string;
  readonly requestId: string;
  readonly clientRequestId: string | null;
  readonly waitedMs: number;
}

/** The requests that rules hold. */
export class WaitingRoom {
  readonly #schedule: Schedule;
  readonly #elapsedMs: () => number;
  readonly #waiting = new Map<number, Waiting>();
  #watchers: (() => void)[] = [];
  #lastId = 0;
  #isClosed = false;

  constructor(schedule: Schedule, elapsedMs: () => number) {
    this.#schedule = schedule;
    this.#elapsedMs = elapsedMs;
  }

  /** Resolves when the request is released: true, or after `timeoutMs`: false. */
  async hold(
    active: ActiveRule,
    at: Point,
    request: SeenRequest,
    timeoutMs: number,
  ): Promise<boolean> {
    if (this.#isClosed) return true;
    const id = ++this.#lastId;
    const sinceMs = this.#elapsedMs();
    return new Promise((resolve) => {
      const leave = (isReleased: boolean) => {
        timer.cancel();
        this.#waiting.delete(id);
        resolve(isReleased);
      };
      const timer = this.#schedule(() => leave(false), timeoutMs);
      this.#waiting.set(id, { id, rule: active.id, at, request, sinceMs, end: () => leave(true) });
      this.#tell();
    });
  }

  get shown(): ShownWaiting[] {
    const now = this.#elapsedMs();
    return [...this.#waiting.values()].map(({ id, rule, at, request, sinceMs }) => {
      const { headers: _, ...seen } = request;
      return { id, rule, at, ...seen, waitedMs: Math.round(now - sinceMs) };
    });
  }

  /** Releases the requests of a rule, one request, or all. Returns how many. */
  release(of: { readonly rule?: number; readonly id?: number } = {}): number {
    const found = [...this.#waiting.values()].filter(
      ({ id, rule }) => (of.id ?? id) === id && (of.rule ?? rule) === rule,
    );
    for (const one of found) one.end();
    return found.length;
  }

  /** Resolves once `count` requests wait at a rule, or at all; throws after `timeoutMs`. */
  async reached(rule: number | null, count: number, timeoutMs: number): Promise<void> {
    const isReached = () => {
      const all = [...this.#waiting.values()];
      return all.filter((one) => rule === null || one.rule === rule).length >= count;
    };
    let isLate = false;
    const timer = this.#schedule(() => {
      isLate = true;
      this.#tell();
    }, timeoutMs);
    try {
      while (!isReached()) {
        if (isLate || this.#isClosed) {
          const where = rule === null ? "" : ` at rule ${rule}`;
          throw new LabError(
            `${this.shown.length} requests wait, and not the ${count}${where} that were asked for.`,
            408,
          );
        }
        await new Promise<void>((resolve) => this.#watchers.push(resolve));
      }
    } finally {
      timer.cancel();
    }
  }

  /** Releases all, and holds nobody any more. */
  close(): void {
    this.#isClosed = true;
    this.release();
    this.#tell();
  }

  #tell(): void {
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const wake of watchers) wake();
  }
}
