import type { Connections } from "./connections.ts";
import { Fetching, type Needy } from "./fetching.ts";
import type { PostgresFigures } from "./figures.ts";
import {
  applyChanges,
  askForChanges,
  type LastCommit,
  readLastCommit,
  type TimeSource,
} from "./news.ts";
import { Patience } from "./patience.ts";
import type { RecordCache } from "./record-cache.ts";
import { refusalOf } from "./server-errors.ts";
import { noticesOf, type Session } from "./session.ts";
import { NOTIFY, READ_LAST } from "./statements.ts";
import type { Step } from "./wire.ts";

/** A body that waits for news of the database, and for records that it needs. */
export interface WaitingBody extends Needy {
  /** Called when the cache shows a commit that is not older than the call. */
  run(last: LastCommit): void;
  fail(error: unknown): void;
}

/**
 * Brings the cache up to date for all bodies that wait, in one round trip. A batch that began
 * after a call arrived tells of every commit that was acknowledged before: reads are linearizable.
 */
export class SharedReads {
  readonly #connections: Connections;
  readonly #cache: RecordCache;
  readonly #time: TimeSource;
  readonly #figures: PostgresFigures;
  readonly #patience: Patience;
  #waiting: WaitingBody[] = [];
  #isRunning = false;
  /** The last commit that other front ends are to be told of. */
  #toTell: number | null = null;

  constructor(
    connections: Connections,
    cache: RecordCache,
    time: TimeSource,
    figures: PostgresFigures,
    patienceMs: number,
  ) {
    const failWaiting = (error: unknown) => {
      for (const body of this.#waiting.splice(0)) body.fail(error);
    };
    this.#patience = new Patience(patienceMs, "answers no reads", failWaiting);
    this.#figures = figures;
    this.#connections = connections;
    this.#cache = cache;
    this.#time = time;
  }

  add(body: WaitingBody): void {
    this.#waiting.push(body);
    for (const name of body.needs.keys.keys()) this.#cache.awaited.add(name);
    if (!this.#isRunning) void this.#run();
  }

  close(): void {
    this.#patience.close();
  }

  /** Tells other front ends of a commit, together with the next batch. Nobody relies on it. */
  tell(number: number): void {
    this.#toTell = number;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // Bodies of this iteration of the event loop share the first batch.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0 || this.#toTell !== null) {
      const bodies = this.#waiting;
      const toTell = this.#toTell;
      this.#waiting = [];
      this.#toTell = null;
      try {
        const session = await this.#connections.get();
        // Bodies that arrived while the front end connected join this batch.
        bodies.push(...this.#waiting.splice(0));
        await this.#readFor(session, bodies, toTell);
      } catch (error) {
        for (const body of bodies) body.fail(error);
      }
    }
    this.#isRunning = false;
  }

  async #readFor(
    session: Session,
    bodies: readonly WaitingBody[],
    toTell: number | null,
  ): Promise<void> {
    const last = await this.#bringUpToDate(session, bodies, telling(session, toTell));
    if (last === null) this.#waiting.unshift(...bodies);
    else for (const body of bodies) body.run(last);
  }

  /** Null if the connection was lost meanwhile: a read can be repeated. */
  async #bringUpToDate(
    session: Session,
    bodies: readonly Needy[],
    telling: readonly Step[],
  ): Promise<LastCommit | null> {
    const fetching = new Fetching(bodies, this.#cache);
    this.#cache.awaited.clear();
    const fetch = this.#cache.beginFetch();
    const news = [{ statement: READ_LAST, values: [] }, askForChanges(this.#cache)];
    try {
      const begunMs = performance.now();
      const answers = await session.read.run([...news, ...fetching.steps, ...telling]);
      this.#figures.noteRead(begunMs);
      this.#patience.succeeded();
      if (!this.#connections.isCurrent(session)) return null;
      const [[row = []] = [], changes = [], ...records] = answers;
      const last = readLastCommit(row, row[3], this.#time);
      applyChanges(this.#cache, last, changes);
      this.#cache.makeRoom();
      fetching.learn(this.#cache, fetch, last.number, records);
      return last;
    } catch (error) {
      this.#connections.renew(session);
      const refusal = refusalOf(error);
      if (refusal !== null) throw refusal;
      this.#patience.failed(error);
      if (this.#patience.outage !== null) throw this.#patience.outage;
      return null;
    } finally {
      this.#cache.endFetch(fetch);
    }
  }
}

function telling({ cluster }: Session, number: number | null): Step[] {
  if (number === null) return [];
  return [{ statement: NOTIFY, values: [noticesOf(cluster), `${number}`] }];
}
