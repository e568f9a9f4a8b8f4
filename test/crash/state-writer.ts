import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type IsOutage, isUnanswered } from "./outage.ts";
import type { WholeServerProcess } from "./server-process.ts";

/** A client that writes until the server is gone, and knows what must exist afterwards. */
export interface CrashWriter {
  readonly name: string;
  write(server: WholeServerProcess, acknowledge: () => void, isOutage?: IsOutage): Promise<void>;
  /** Fails if an acknowledged write is missing, or if something exists that was never requested. */
  check(server: WholeServerProcess): Promise<void>;
}

/**
 * One step. Until it is acknowledged the server may show the old state, the next, or one between.
 */
export interface Change<State> {
  readonly next: State;
  readonly between?: readonly State[];
  make(): Promise<unknown>;
}

/** The one thing on the server that a writer changes. */
export interface Subject<State> {
  readonly name: string;
  nextChange(old: State, server: WholeServerProcess): Change<State>;
  read(server: WholeServerProcess): Promise<State>;
  /** Equal for equal states. */
  describe(state: State): string;
}

/**
 * Changes its subject step by step. After a crash the subject is in the state that was acknowledged
 * last, or in one requested when the answer did not come. Nothing else is possible.
 */
export class StateWriter<State> implements CrashWriter {
  readonly name: string;
  readonly #subject: Subject<State>;
  #acknowledged: State;
  #asked: readonly State[] = [];

  constructor(subject: Subject<State>, state: State) {
    this.name = subject.name;
    this.#subject = subject;
    this.#acknowledged = state;
  }

  get acknowledged(): State {
    return this.#acknowledged;
  }

  async write(
    server: WholeServerProcess,
    acknowledge: () => void,
    isOutage = isUnanswered,
  ): Promise<void> {
    for (;;) {
      const change = this.#subject.nextChange(this.#acknowledged, server);
      this.#asked = [...(change.between ?? []), change.next];
      try {
        await change.make();
      } catch (error) {
        if (isOutage(error)) return;
        throw error;
      }
      this.#acknowledged = change.next;
      this.#asked = [];
      acknowledge();
    }
  }

  async check(server: WholeServerProcess): Promise<void> {
    const found = await this.#subject.read(server);
    const described = this.#subject.describe(found);
    const allowed = [this.#acknowledged, ...this.#asked].map((state) =>
      this.#subject.describe(state),
    );
    assert.ok(
      allowed.includes(described),
      `${this.name} has ${described}, and not what was written: ${allowed.join(" or ")}`,
    );
    this.#acknowledged = found;
    this.#asked = [];
  }
}

/** Short enough to print. */
export function describeBytes(bytes: Buffer | string | null): string {
  if (bytes === null) return "nothing";
  return `${bytes.length} bytes, ${createHash("sha256").update(bytes).digest("hex")}`;
}
