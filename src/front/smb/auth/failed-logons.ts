import type { Clock } from "../../../base/clock.ts";
import { quotedText } from "../../../base/quoted-text.ts";
import type { Timer } from "../../../service/file/cache-breaks.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import { LogonRefused } from "./authentication.ts";

export interface LogonLimits {
  /** The delay of the response after this many failures in a row. */
  readonly delayMs: (failures: number) => number;
  /** Delayed responses of one account at one address; at this many, no key is checked. */
  readonly delayedMax: number;
  /** The most log-ons of one account at one address that wait for their check; more are refused. */
  readonly waitingMax: number;
  /** The most remembered addresses, and accounts of each. */
  readonly addressesMax: number;
  readonly accountsPerAddressMax: number;
  /** The time after its last failure until an account at an address counts from 0 again. */
  readonly rememberedMs: number;
  /** The most failures logged within `logWindowMs`; more are only counted. */
  readonly logLinesMax: number;
  readonly logWindowMs: number;
}

const DELAY_FREE = 4;
const DELAY_MS = 1_000;
const DELAY_MS_MAX = 8_000;

/** No delay for four failures, then 1, 2, 4 and always 8 s. */
export function delayAfter(failures: number): number {
  if (failures <= DELAY_FREE) return 0;
  return Math.min(DELAY_MS_MAX, DELAY_MS * 2 ** (failures - DELAY_FREE - 1));
}

export const DEFAULT_LOGON_LIMITS: LogonLimits = {
  delayMs: delayAfter,
  delayedMax: 8,
  waitingMax: 32,
  addressesMax: 1_024,
  accountsPerAddressMax: 16,
  rememberedMs: 15 * 60_000,
  logLinesMax: 20,
  logWindowMs: 10_000,
};

/** A client that claims a user name. */
export interface Claimant {
  readonly address: string;
  /** The name as the client wrote it. */
  readonly user: string;
  /** Aborted when its connection is closed. */
  readonly gone: AbortSignal;
}

/** The failures of an account at an address. */
interface Tries {
  /** Failures in a row. */
  failures: number;
  lastMs: number;
  /** Failures whose responses are delayed, also of clients that have disconnected. */
  delayed: number;
  readonly waiting: Set<() => void>;
}

/**
 * Counts failed log-ons by address and account, logs them, and delays their responses. The right
 * key is accepted at once, whatever others at the same address try, unless so many of them fail at
 * the same time that checking more would make guessing faster.
 */
export class FailedLogons {
  readonly #limits: LogonLimits;
  readonly #clock: Clock;
  readonly #timer: Timer;
  readonly #log: (line: string) => void;
  /** By network, the latest failure last; then by account. */
  readonly #networks = new Map<string, Map<string, Tries>>();
  #windowMs = 0;
  #logged = 0;
  #unlogged = 0;

  constructor(limits: LogonLimits, clock: Clock, timer: Timer, log: (line: string) => void) {
    this.#limits = limits;
    this.#clock = clock;
    this.#timer = timer;
    this.#log = log;
  }

  /** The number of remembered accounts at all addresses. */
  get size(): number {
    let size = 0;
    for (const accounts of this.#networks.values()) size += accounts.size;
    return size;
  }

  /** Runs `prove` and returns its result. A `LogonRefused` is counted, logged and delayed. */
  async check<Done>(claimant: Claimant, prove: () => Done): Promise<Done> {
    for (let full = this.#full(claimant); full !== null; full = this.#full(claimant)) {
      await this.#wait(claimant, full);
    }
    try {
      const done = prove();
      this.#reset(claimant);
      return done;
    } catch (error) {
      if (error instanceof LogonRefused) await this.#fail(claimant, error.reason);
      throw error;
    }
  }

  /** The claimant's failures if too many are delayed; null if its key may be checked now. */
  #full(claimant: Claimant): Tries | null {
    const tries = this.#find(claimant);
    return tries !== null && tries.delayed >= this.#limits.delayedMax ? tries : null;
  }

  async #wait(claimant: Claimant, { waiting }: Tries): Promise<void> {
    const { gone } = claimant;
    if (waiting.size >= this.#limits.waitingMax) {
      this.#note(claimant, "not checked, too many failures at the same time");
      throw new StatusError(STATUS.ACCOUNT_LOCKED_OUT);
    }
    await new Promise<void>((resolve) => {
      waiting.add(resolve);
      onAbort(gone, () => {
        waiting.delete(resolve);
        resolve();
      });
    });
    if (gone.aborted) throw new StatusError(STATUS.USER_SESSION_DELETED);
  }

  /** Counts a failure, and resolves when it may be answered. */
  async #fail(claimant: Claimant, reason: string): Promise<void> {
    const tries = this.#findOrAdd(claimant);
    tries.failures++;
    tries.lastMs = this.#clock.now();
    const delayMs = this.#limits.delayMs(tries.failures);
    const delayed = delayMs === 0 ? "" : `, answered after ${delayMs} ms`;
    this.#note(claimant, `${reason} (${tries.failures} in a row${delayed})`);
    if (delayMs === 0) return;
    tries.delayed++;
    await new Promise<void>((resolve) => {
      this.#timer.start(delayMs, () => {
        tries.delayed--;
        wake(tries, 1);
        resolve();
      });
      onAbort(claimant.gone, resolve);
    });
  }

  /** Resets the count, unless others at the same address are guessing: they would profit. */
  #reset(claimant: Claimant): void {
    const [network, account] = keysOf(claimant);
    const accounts = this.#networks.get(network);
    const tries = accounts?.get(account);
    if (accounts === undefined || tries === undefined || tries.delayed > 0) return;
    accounts.delete(account);
    if (accounts.size === 0) this.#networks.delete(network);
    wake(tries, tries.waiting.size);
  }

  #find(claimant: Claimant): Tries | null {
    const [network, account] = keysOf(claimant);
    return this.#networks.get(network)?.get(account) ?? null;
  }

  #findOrAdd(claimant: Claimant): Tries {
    const [network, account] = keysOf(claimant);
    const accounts = this.#networks.get(network) ?? new Map<string, Tries>();
    // Moves it to the end: the first one is forgotten first.
    this.#networks.delete(network);
    this.#networks.set(network, accounts);
    const oldest = this.#networks.keys().next().value;
    if (this.#networks.size > this.#limits.addressesMax && oldest !== undefined) {
      this.#networks.delete(oldest);
    }
    const found = accounts.get(account);
    if (found !== undefined) {
      const isOld = this.#clock.now() - found.lastMs > this.#limits.rememberedMs;
      if (isOld) found.failures = 0;
      return found;
    }
    if (accounts.size >= this.#limits.accountsPerAddressMax) dropLeast(accounts);
    const added = { failures: 0, lastMs: 0, delayed: 0, waiting: new Set<() => void>() };
    accounts.set(account, added);
    return added;
  }

  /** Logs a line, within a limit, so that failing clients cannot fill the disk. */
  #note({ address, user }: Claimant, what: string): void {
    const { logLinesMax, logWindowMs } = this.#limits;
    const now = this.#clock.now();
    if (now - this.#windowMs >= logWindowMs) {
      if (this.#unlogged > 0) this.#log(`log-ons refused: ${this.#unlogged} more, not listed`);
      this.#windowMs = now;
      this.#logged = 0;
      this.#unlogged = 0;
    }
    if (this.#logged >= logLinesMax) {
      this.#unlogged++;
      return;
    }
    this.#logged++;
    const name = quotedText(user.slice(0, USER_CHARACTERS_MAX));
    this.#log(`log-on refused: account ${name} at ${address}: ${what}`);
  }
}

/** Drops the account with the fewest failures, so that made-up names do not evict a guessed one. */
function dropLeast(accounts: Map<string, Tries>): void {
  let least: [string, Tries] | null = null;
  for (const one of accounts) {
    if (least === null || one[1].failures < least[1].failures) least = one;
  }
  if (least !== null) accounts.delete(least[0]);
}

function wake({ waiting }: Tries, count: number): void {
  for (const resolve of [...waiting].slice(0, count)) {
    waiting.delete(resolve);
    resolve();
  }
}

function onAbort(signal: AbortSignal, done: () => void): void {
  if (signal.aborted) done();
  else signal.addEventListener("abort", done, { once: true });
}

const USER_CHARACTERS_MAX = 64;

function keysOf({ address, user }: Claimant): [network: string, account: string] {
  return [networkOf(address), user.slice(0, USER_CHARACTERS_MAX).toLowerCase()];
}

/** The first 64 bits of an IPv6 address: one customer of a provider has all addresses in there. */
export function networkOf(address: string): string {
  if (address.includes(".")) return address.replace(/^::ffff:/i, "");
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const after = tail === "" ? [] : tail.split(":");
    while (groups.length + after.length < 8) groups.push("0");
    groups.push(...after);
  }
  return groups.slice(0, 4).join(":");
}
