import { AsyncLocalStorage } from "node:async_hooks";
import { type ActiveRule, type ActiveRules, note } from "./active-rules.ts";
import { Interrupted, type LabCall } from "./lab-call.ts";
import type { PointsOfCall } from "./lab-store.ts";
import type { Pauses } from "./pauses.ts";
import type { Effect, Point } from "./rule.ts";
import type { ThirdParties } from "./third-party.ts";
import type { WaitingRoom } from "./waiting-room.ts";

export interface WorkSetup {
  readonly rules: ActiveRules;
  readonly room: WaitingRoom;
  readonly pauses: Pauses;
  readonly parties: ThirdParties;
}

/** Lets rules act on requests, whichever protocol they came by. */
export class RulesAtWork implements PointsOfCall {
  readonly current = new AsyncLocalStorage<LabCall>();
  readonly #setup: WorkSetup;

  constructor(setup: WorkSetup) {
    this.#setup = setup;
  }

  mayAct(point: Point, { seen, met, isOver }: LabCall): boolean {
    return !isOver && this.#setup.rules.mayAct(point, seen, met);
  }

  /** Lets rules act. Throws what the call says if one of them answers or drops it. */
  async reach(point: Point, call: LabCall): Promise<void> {
    for (;;) {
      const active = this.#setup.rules.next(point, call.seen, call.met);
      if (active === null) return;
      await this.#act(active, point, call);
    }
  }

  /** Handles a request between its first and its last point. `discard` frees an unsent answer. */
  async handle<Answer>(
    call: LabCall,
    handler: () => Promise<Answer>,
    discard: (answer: Answer) => void,
  ): Promise<Answer> {
    try {
      await this.reach("arrival", call);
      const outcome = await this.#outcome(call, handler);
      try {
        await this.reach("answer", call);
      } catch (error) {
        if ("answer" in outcome) discard(outcome.answer);
        throw error;
      }
      if ("answer" in outcome) return outcome.answer;
      throw outcome.refusal;
    } finally {
      call.isOver = true;
    }
  }

  /** What a rule decided on the way is no outcome: it is thrown. */
  async #outcome<Answer>(call: LabCall, handler: () => Promise<Answer>) {
    try {
      return { answer: await this.current.run(call, handler) };
    } catch (error) {
      if (error instanceof Interrupted) throw error;
      return { refusal: error };
    }
  }

  async #act(active: ActiveRule, point: Point, call: LabCall): Promise<void> {
    const { effect } = active.rule;
    const { seen } = call;
    switch (effect.kind) {
      case "answer":
        throw call.answered(active.id, effect);
      case "drop":
        throw call.dropped();
      case "delay":
        return this.#setup.pauses.wait(active, effect.ms);
      case "truncate":
        call.endsAfter = effect.bytes;
        return;
      case "slow":
        call.slowed = { active, bytesPerSecond: effect.bytesPerSecond };
        return;
      case "hold": {
        const isReleased = await this.#setup.room.hold(active, point, seen, effect.timeoutMs);
        if (isReleased) return;
        note(active, `request ${seen.requestId} went on: nobody released it in time`);
        return;
      }
      case "run":
        return this.#run(active, effect, call);
    }
  }

  async #run(
    active: ActiveRule,
    { request }: Extract<Effect, { kind: "run" }>,
    { seen }: LabCall,
  ): Promise<void> {
    const what = `${request.method} ${request.path}`;
    const { account, service } = seen;
    const sameFiles = service === "smb" ? "file" : service;
    try {
      const asFirst = { account, service: sameFiles } as const;
      const { status, code } = await this.#setup.parties.send(request, asFirst);
      note(active, `${what} was answered ${code === null ? status : `${status} ${code}`}`);
    } catch (error) {
      note(active, `${what} failed: ${(error as Error).message}`);
    }
  }
}
