import type { Clock } from "../base/clock.ts";
import type { Log } from "./log.ts";
import { readSettings, type Settings } from "./settings.ts";
import { changesBetween, haveSameIssuer, requireSamePlaces } from "./settings-changes.ts";
import { StartError } from "./start-error.ts";

/** What came of a reload. */
export interface ReloadDone {
  readonly isReloaded: boolean;
  /** What changed, or why nothing was taken over; without keys. */
  readonly line: string;
}

/** Reads the settings of a running server again, one reload at a time. */
export class Reloading {
  readonly #apply: (settings: Settings) => void;
  readonly #log: Pick<Log, "tell" | "warn">;
  readonly #clock: Clock;
  #settings: Settings;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    settings: Settings,
    apply: (settings: Settings) => void,
    log: Pick<Log, "tell" | "warn">,
    clock: Clock,
  ) {
    this.#settings = settings;
    this.#apply = apply;
    this.#log = log;
    this.#clock = clock;
  }

  /** Never rejects: whatever happens, the server goes on. */
  reload(): Promise<ReloadDone> {
    const done = this.#last.then(() => this.#reload());
    this.#last = done;
    return done;
  }

  async #reload(): Promise<ReloadDone> {
    try {
      const line = await this.#takeOver(this.#read());
      this.#log.tell(line);
      return { isReloaded: true, line: `${line}.` };
    } catch (error) {
      const what = "The configuration is not reloaded, and the old one stays";
      const isUsers = error instanceof StartError;
      this.#log.warn(what, isUsers ? error.message : error);
      const reason = isUsers ? error.message : "this is a bug, and the server's log has more.";
      return { isReloaded: false, line: `${what}: ${reason}` };
    }
  }

  /** Reads the files that the command line names. An issuer that stays keeps its loaded keys. */
  #read(): Settings {
    const read = readSettings(this.#settings.options);
    requireSamePlaces(this.#settings, read);
    const { oauth, places } = this.#settings;
    return { ...read, places, ...(haveSameIssuer(this.#settings, read) ? { oauth } : {}) };
  }

  /** Returns a sentence about what has changed. */
  async #takeOver(settings: Settings): Promise<string> {
    const before = this.#settings;
    this.#apply(settings);
    this.#settings = settings;
    const changes = changesBetween(before, settings);
    const { oauth } = settings;
    if (oauth?.mode === "issuer" && (await oauth.keys.refresh(this.#clock.now()))) {
      changes.push("other keys of the token issuer");
    }
    for (const warning of settings.warnings) {
      if (!before.warnings.includes(warning)) this.#log.warn("warning", warning);
    }
    const what = changes.length === 0 ? "nothing has changed" : changes.join("; ");
    return `The configuration is reloaded: ${what}`;
  }
}
