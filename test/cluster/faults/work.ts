// tidy-allow sleep: a client that was refused asks again later
import { setTimeout as wait } from "node:timers/promises";
import type { Balancer, Clients } from "./clients.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import type { ServiceGaps } from "./service-gaps.ts";

const AGAIN_MS = 50;
/** Between the requests of one worker: what matters is the order of requests, not their number. */
const PAUSE_MS = 60;

/** What the clients of a round have in common. */
export interface Round {
  readonly clients: Balancer;
  readonly gaps: ServiceGaps;
  /** For names that no other round uses. */
  readonly name: string;
  /** Whether the load should end. */
  readonly isOver: boolean;
  /** A rule that was broken. */
  object(what: string): void;
}

/** One kind of load: it prepares, works until the round is over, and checks what is left. */
export interface Work {
  prepare(): Promise<void>;
  readonly workers: readonly (() => Promise<void>)[];
  check(): Promise<void>;
}

/** Sends a request to any front end until it is done or refused, or nobody knows. */
export async function ask<T>(
  { clients, gaps }: Round,
  call: (clients: Clients, signal: AbortSignal) => Promise<T>,
): Promise<Exclude<Outcome<T>, { kind: "busy" }>> {
  for (;;) {
    const to = clients.any;
    const outcome = await outcomeOf((signal) => call(to, signal));
    if (outcome.kind === "done" || outcome.kind === "refused") {
      gaps.succeeded();
      to.state.gaps.succeeded();
    }
    if (outcome.kind !== "busy") return outcome;
    await wait(AGAIN_MS);
  }
}

/** As `ask`, for requests that may be repeated: reads, and creations that may find their work done. */
export async function askUntilDone<T>(
  round: Round,
  call: (clients: Clients, signal: AbortSignal) => Promise<T>,
  refusedIsFine = false,
): Promise<T | null> {
  for (;;) {
    const outcome = await ask(round, call);
    if (outcome.kind === "done") return outcome.value;
    if (outcome.kind === "refused") {
      if (refusedIsFine) return null;
      throw new Error(`refused with ${outcome.status}`);
    }
    await wait(AGAIN_MS);
  }
}

/** Keeps the load far below what the machine could do. */
export async function pause(ms = PAUSE_MS): Promise<void> {
  await wait(ms);
}
