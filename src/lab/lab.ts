import { randomBytes } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import type { Schedule } from "../base/schedule.ts";
import type { RestService } from "../front/rest/http/exchange.ts";
import type { SmbGate } from "../front/smb/smb-gate.ts";
import type { SavedState } from "../store/saved-state.ts";
import type { Store } from "../store/store.ts";
import { type ActiveRule, ActiveRules } from "./active-rules.ts";
import { CLOCKS_ON_TIME, LabClock } from "./lab-clock.ts";
import { LabError } from "./lab-error.ts";
import { LabStore, SlowestClockStore } from "./lab-store.ts";
import { Pauses } from "./pauses.ts";
import { readInteger } from "./read-fields.ts";
import { readRule } from "./read-rule.ts";
import { Recorder } from "./recorder.ts";
import { RestGates } from "./rest-gate.ts";
import { RulesAtWork } from "./rules-at-work.ts";
import { SavedStates } from "./saved-states.ts";
import { RulesForSmb } from "./smb-gate.ts";
import { type Endpoints, ThirdParties } from "./third-party.ts";
import { WaitingRoom } from "./waiting-room.ts";

/** What a lab needs of its server. */
export interface LabSetup extends Endpoints {
  /** The machine's clock. */
  readonly clock: Clock;
  readonly schedule: Schedule;
  /** A secret that marks requests of the lab itself. */
  readonly token: string;
  /** Operations in a recording; by default 100,000. */
  readonly recordedMax?: number;
}

/** How a lab acts on the data of its server. */
export interface LabData {
  /** Keeps the present state of the data; null if the engine cannot. */
  readonly save: (() => SavedState) | null;
  /** Does background work that is due. */
  catchUp(): Promise<void>;
  /** Does something while no background work runs, and ends the SMB handles that are open then. */
  replace(work: () => void): Promise<void>;
}

/** A rule in answers of the API. */
export interface ShownRule {
  readonly id: number;
  readonly rule: unknown;
  readonly at: string;
  readonly matched: number;
  readonly acted: number;
  readonly notes: readonly string[];
}

/**
 * Experiments on a running server: its clocks, rules about requests, held requests, saved states and
 * a recording. It exists only with `--lab`.
 */
export class Lab {
  readonly clock: LabClock;
  readonly rules = new ActiveRules();
  readonly room: WaitingRoom;
  readonly parties: ThirdParties;
  readonly recorder: Recorder;
  readonly endpoints: Endpoints;
  /** Lets rules act on the requests of SMB clients. */
  readonly smbGate: SmbGate;
  /** Different from that of any other lab on the same data. */
  readonly #name = randomBytes(3).toString("hex");
  readonly #pauses: Pauses;
  readonly #work: RulesAtWork;
  readonly #gates: RestGates;
  #scenes = 0;
  #states: SavedStates | null = null;
  #data: LabData | null = null;

  constructor(setup: LabSetup) {
    const { clock, schedule, token, recordedMax } = setup;
    this.endpoints = setup;
    this.clock = new LabClock(clock);
    this.room = new WaitingRoom(schedule, () => clock.elapsedMs());
    this.parties = new ThirdParties(setup, token);
    this.recorder = new Recorder(this.clock, recordedMax);
    this.#pauses = new Pauses(schedule);
    const { rules, room, parties, recorder: watch } = this;
    const pauses = this.#pauses;
    this.#work = new RulesAtWork({ rules, room, pauses, parties });
    this.#gates = new RestGates({ work: this.#work, clock: this.clock, pauses, token, watch });
    this.smbGate = new RulesForSmb(this.#work);
  }

  /** The store of the services. */
  around(store: Store): Store {
    return new LabStore(store, this.#work, this.clock);
  }

  /** The store of background work. */
  behind(store: Store): Store {
    return new SlowestClockStore(store, this.clock);
  }

  /** A service whose requests meet the rules. */
  gate(service: RestService): RestService {
    return this.#gates.around(service);
  }

  /** Called once, when the server has its data and has not served any request. */
  open(data: LabData): void {
    this.#data = data;
    this.#states = data.save === null ? null : new SavedStates(data.save);
  }

  /** Changes a clock, and does what is due then. */
  async changeClock(asked: unknown): Promise<void> {
    this.clock.change(asked, this.endpoints.accounts);
    await this.#data?.catchUp();
  }

  addRule(asked: unknown): ShownRule {
    return shownRule(this.rules.add(readRule(asked, this.endpoints.accounts), asked));
  }

  removeRule(id: number): void {
    this.rules.remove(id);
    this.room.release({ rule: id });
    this.#pauses.endRemoved();
  }

  get shownRules(): ShownRule[] {
    return this.rules.all.map(shownRule);
  }

  /** Removes all rules and lets go whom they hold. */
  clearRules(): void {
    this.rules.clear();
    this.room.release();
    this.#pauses.endRemoved();
  }

  /** Makes chances repeat: rules that are given from now on choose by this seed. */
  seed(value: unknown): number {
    const seed = readInteger(value, "seed", 0, 0xffff_ffff);
    this.clearRules();
    this.rules.clear(seed);
    return seed;
  }

  get savedNames(): string[] {
    return this.#states?.names ?? [];
  }

  save(name: string): void {
    this.#requireStates().save(name, this.clock.settings);
  }

  async restore(name: string): Promise<void> {
    const { state, clocks } = this.#requireStates().find(name);
    await this.#goBack(() => state.restore(), clocks);
  }

  forget(name: string): void {
    this.#requireStates().forget(name);
  }

  /** Goes back to the state in which the server began, without rules and by the machine's clock. */
  async reset(): Promise<void> {
    const { first } = this.#requireStates();
    await this.#goBack(() => first.restore(), CLOCKS_ON_TIME);
  }

  /** A number for a scene, whose place has it in its name. */
  nextScene(): string {
    return `${this.#name}-${++this.#scenes}`;
  }

  /** Lets go whom rules hold. Rules act no more. */
  close(): void {
    this.rules.clear();
    this.room.close();
    this.#pauses.close();
  }

  async #goBack(restore: () => void, clocks: typeof CLOCKS_ON_TIME): Promise<void> {
    this.clearRules();
    await this.#data?.replace(() => {
      restore();
      this.clock.settings = clocks;
    });
  }

  #requireStates(): SavedStates {
    if (this.#states !== null) return this.#states;
    throw new LabError(
      "Only a server in memory can save, restore and reset its state: start it with " +
        "--inMemoryPersistence. For a data folder, stop the server and copy the folder.",
      409,
    );
  }
}

function shownRule({ id, asked, rule, matched, acted, notes }: ActiveRule): ShownRule {
  return { id, rule: asked, at: rule.at, matched, acted, notes };
}
