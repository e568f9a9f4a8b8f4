import type { Clock } from "../base/clock.ts";
import type { AboutFrontEnd } from "../cluster/front-end.ts";
import { type FailStop, StoreError } from "../store/store.ts";
import { type DatabaseSetup, OpenDatabase } from "./open-database.ts";
import type { NamedPlace } from "./places.ts";
import { type OutOfReach, StartError } from "./start-error.ts";

/** The pause before another attempt to open a database. */
export const OPEN_AGAIN_MS = 5_000;

export interface ReopenedSetup extends DatabaseSetup {
  /** Called when data of this machine failed: the process must end. */
  readonly failStop: FailStop;
  /** Called whenever `current` has changed after the start. */
  onChange(): void;
}

/**
 * A place of data that a server serves: open, or out of reach at the moment. A front end that was
 * ended by others opens it anew, as another front end.
 */
export class Database {
  /** Null if it is the only one. */
  readonly name: string | null;
  readonly #place: NamedPlace;
  readonly #setup: ReopenedSetup;
  #current: OpenDatabase | StoreError = new StoreError("unreachable", "it is not open yet");
  #clock: Clock | null = null;
  #next: { cancel(): void } | null = null;
  #opening: Promise<void> = Promise.resolve();
  /** Data that nobody uses any more. */
  readonly #closing = new Set<Promise<void>>();
  #about: AboutFrontEnd | null = null;
  #isClosed = false;

  constructor(name: string | null, place: NamedPlace, setup: ReopenedSetup) {
    this.name = name;
    this.#place = place;
    this.#setup = setup;
  }

  /** What is open, or why nothing is. */
  get current(): OpenDatabase | StoreError {
    return this.#current;
  }

  /** What is open. Throws an "unreachable" `StoreError` if nothing is. */
  get opened(): OpenDatabase {
    if (this.#current instanceof StoreError) throw this.#current;
    return this.#current;
  }

  /** Its time; that of this machine until it is known. */
  get clock(): Clock {
    return this.#clock ?? this.#setup.around.clock;
  }

  /** Whether its time is known. */
  get hasClock(): boolean {
    return this.#clock !== null;
  }

  /** `database "west"`, for messages about one of several. */
  get title(): string {
    return this.name === null ? "the database" : `database "${this.name}"`;
  }

  /** Why requests would fail now; null if they succeed. */
  get outage(): string | null {
    const current = this.#current;
    const reason = current instanceof StoreError ? current.message : current.readiness.outage;
    if (reason === null) return null;
    const isNamed = this.name === null && !(current instanceof StoreError);
    return isNamed ? reason : `${this.title}: ${reason}`;
  }

  /** Opens it. Throws a `StartError`. */
  async open(): Promise<void> {
    let opened: OpenDatabase | null = null;
    let ended: StoreError | null = null;
    const onEnded: FailStop = (error) => {
      ended = error;
      if (opened !== null) this.#lose(opened, error);
    };
    opened = await OpenDatabase.open(
      this.#place,
      this.#setup,
      this.isShared ? onEnded : this.#setup.failStop,
    );
    this.#current = opened;
    this.#clock = opened.clock;
    if (ended !== null) this.#lose(opened, ended);
  }

  /** Opens it as soon as it can be reached. Requests get 503 until then. */
  openLater(why: OutOfReach): void {
    this.#current = new StoreError("unreachable", why.message);
    const reason = why.message.replace(/\.$/, "");
    this.#setup.log.tell(`${this.title} is not open yet, and its accounts get 503: ${reason}`);
    this.#openAfter(OPEN_AGAIN_MS);
  }

  /** Whether other front ends serve it, too. */
  get isShared(): boolean {
    return (this.#place.shared ?? null) !== null;
  }

  /** Begins the work in the background, and tells other front ends who this is. */
  start(about = this.#about): void {
    this.#about = about;
    if (this.#current instanceof StoreError) return;
    this.#current.start();
    if (about !== null) this.#current.stored.member?.frontEnd.introduce(about);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#next?.cancel();
    await this.#opening;
    if (!(this.#current instanceof StoreError)) await this.#current.close();
    await Promise.all(this.#closing);
  }

  #openAfter(pauseMs: number): void {
    if (this.#isClosed) return;
    this.#next = this.#setup.around.schedule(() => {
      this.#opening = this.#openAgain();
    }, pauseMs);
  }

  async #openAgain(): Promise<void> {
    try {
      await this.open();
    } catch (error) {
      const isUsers = error instanceof StartError;
      if (!isUsers) this.#setup.log.warn(`opening ${this.title}`, error);
      this.#current = new StoreError("unreachable", (error as Error).message);
      this.#openAfter(OPEN_AGAIN_MS);
      return;
    }
    this.#setup.log.tell(`${this.title} is open`);
    this.start();
    this.#setup.onChange();
  }

  /** Others have ended this front end: it begins anew, with nothing of what it was. */
  #lose(lost: OpenDatabase, error: StoreError): void {
    if (this.#current !== lost || this.#isClosed) return;
    const { log, onChange } = this.#setup;
    log.tell(`${this.title} is opened anew: ${error.message}`);
    this.#current = error;
    onChange();
    const closing = lost
      .close()
      .catch((failure) => log.warn(`closing ${this.title}`, failure))
      .then(() => void this.#closing.delete(closing));
    this.#closing.add(closing);
    this.#openAfter(0);
  }
}
