import type { Clock, Instant } from "../base/clock.ts";
import { LabError } from "./lab-error.ts";
import {
  type Fields,
  readAccount,
  readDuration,
  readFields,
  requireTrue,
  shown,
} from "./read-fields.ts";

/** How far a clock is from the one below it, or where it stands. */
export interface ClockSetting {
  readonly offsetMs: number;
  /** Null if it runs. */
  readonly frozenMs: Instant | null;
}

/** Every clock of a lab, as `save` keeps it. */
export interface ClockSettings {
  readonly server: ClockSetting;
  readonly accounts: ReadonlyMap<string, ClockSetting>;
}

/** A clock in answers of the API. */
export interface ShownClock {
  readonly now: string;
  readonly isFrozen: boolean;
  /** How far it is ahead of the machine's clock. */
  readonly aheadMs: number;
}

const ON_TIME: ClockSetting = { offsetMs: 0, frozenMs: null };
/** The times that stamps and dates of the protocols can have. */
const FIRST_MS = Date.UTC(1970, 0, 2);
const LAST_MS = Date.UTC(9000, 0, 1);

const CHANGES = ["move", "set", "freeze", "resume", "reset"] as const;
const ONE_OF_THEM =
  'Give one of "move": "20s" (or "-20s"), "set": "2030-01-01T00:00:00Z", "freeze": true, ' +
  '"resume": true, "reset": true; and "account" for the clock of one account.';

/**
 * The clock of the server, and those of accounts that have one of their own. An account's clock
 * runs on top of the server's: what moves the server moves every account that is not frozen.
 */
export class LabClock implements Clock {
  readonly #machine: Clock;
  #server: ClockSetting = ON_TIME;
  readonly #accounts = new Map<string, ClockSetting>();

  constructor(machine: Clock) {
    this.#machine = machine;
  }

  /** The server's time. */
  now(machineMs = this.#machine.now()): Instant {
    return timeOf(this.#server, machineMs);
  }

  elapsedMs(): number {
    return this.#machine.elapsedMs();
  }

  /** The time of an account. */
  of(account: string, machineMs = this.#machine.now()): Instant {
    return timeOf(this.#accounts.get(account) ?? ON_TIME, this.now(machineMs));
  }

  /** Whether an account has a clock of its own. */
  has(account: string): boolean {
    return this.#accounts.has(account);
  }

  /** The time of background work, which thus removes nothing that an account still sees. */
  earliest(): Instant {
    const server = this.now();
    return Math.min(server, ...[...this.#accounts.keys()].map((account) => this.of(account)));
  }

  /** Changes a clock as a request asks: that of an account, or the server's. */
  change(asked: unknown, accounts: readonly string[]): void {
    const fields = readFields(asked, "The change of a clock", [...CHANGES, "account"]);
    const account =
      fields.account === undefined ? null : readAccount(fields.account, "account", accounts);
    const below = account === null ? this.#machine.now() : this.now();
    const before = account === null ? this.#server : (this.#accounts.get(account) ?? ON_TIME);
    const after = changed(before, fields, below);
    const at = timeOf(after, below);
    if (!(at >= FIRST_MS && at <= LAST_MS)) {
      throw new LabError("A clock must stay between the years 1970 and 9000.");
    }
    if (account === null) this.#server = after;
    else if (after.offsetMs === 0 && after.frozenMs === null) this.#accounts.delete(account);
    else this.#accounts.set(account, after);
  }

  get settings(): ClockSettings {
    return { server: this.#server, accounts: new Map(this.#accounts) };
  }

  set settings({ server, accounts }: ClockSettings) {
    this.#server = server;
    this.#accounts.clear();
    for (const [account, setting] of accounts) this.#accounts.set(account, setting);
  }

  /** All clocks, for people. */
  get shown(): { readonly server: ShownClock; readonly accounts: Record<string, ShownClock> } {
    const machine = this.#machine.now();
    const show = (now: Instant, frozenMs: Instant | null): ShownClock => ({
      now: new Date(now).toISOString(),
      isFrozen: frozenMs !== null,
      aheadMs: now - machine,
    });
    const accounts = [...this.#accounts].map(([account, setting]) => [
      account,
      show(this.of(account, machine), setting.frozenMs),
    ]);
    return {
      server: show(this.now(machine), this.#server.frozenMs),
      accounts: Object.fromEntries(accounts),
    };
  }
}

/** The setting of a fresh lab. */
export const CLOCKS_ON_TIME: ClockSettings = { server: ON_TIME, accounts: new Map() };

function timeOf({ offsetMs, frozenMs }: ClockSetting, below: Instant): Instant {
  return frozenMs ?? below + offsetMs;
}

function changed(before: ClockSetting, fields: Fields, below: Instant): ClockSetting {
  const given = CHANGES.filter((name) => fields[name] !== undefined);
  const [what] = given;
  if (what === undefined || given.length > 1) throw new LabError(ONE_OF_THEM);
  const now = timeOf(before, below);
  const { frozenMs } = before;
  switch (what) {
    case "move": {
      const byMs = readDuration(fields.move, "move", Number.MIN_SAFE_INTEGER);
      return standing(now + byMs, below, frozenMs !== null);
    }
    case "set":
      return standing(readTime(fields.set), below, frozenMs !== null);
    case "freeze":
      requireTrue(fields.freeze, "freeze");
      return standing(now, below, true);
    case "resume":
      requireTrue(fields.resume, "resume");
      return standing(now, below, false);
    case "reset":
      requireTrue(fields.reset, "reset");
      return ON_TIME;
  }
}

/** The setting of a clock that shows `now`. */
function standing(now: Instant, below: Instant, isFrozen: boolean): ClockSetting {
  return isFrozen ? { offsetMs: 0, frozenMs: now } : { offsetMs: now - below, frozenMs: null };
}

function dayOf(value: unknown): string {
  return String(value).slice(0, "2030-01-01".length);
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z$/;

function readTime(value: unknown): Instant {
  const instant =
    typeof value === "string" && ISO_TIME.test(value) ? Date.parse(value) : Number.NaN;
  // `Date.parse` takes the 30th of February for the 2nd of March.
  const isDay = !Number.isNaN(instant) && new Date(instant).toISOString().startsWith(dayOf(value));
  if (isDay) return instant;
  throw new LabError(
    `set must be a time in UTC such as "2030-01-01T00:00:00Z"; not ${shown(value)}.`,
  );
}
