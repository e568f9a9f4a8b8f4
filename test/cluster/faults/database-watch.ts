// tidy-allow sleep: a watch looks once a second
import { setTimeout as wait } from "node:timers/promises";
import type { PatroniCluster } from "./patroni.ts";
import type { ServiceGaps } from "./service-gaps.ts";

const LOOK_MS = 1_000;
/** Without a success for so long, it is noted what the database waits for. */
const AWAY_MS_MIN = 10_000;
const ANSWER_MS_MAX = 5_000;
const LINES_MAX = 60;

/** What each connection of a front end, and each that keeps others waiting, does at the moment. */
const WAITS = `
  select concat_ws(' ', pid, application_name, state, wait_event_type, wait_event,
    'blocked by', pg_blocking_pids(pid)::text, 'since', (clock_timestamp() - state_change)::text,
    left(regexp_replace(query, '\\s+', ' ', 'g'), 80))
  from pg_stat_activity
  where backend_type = 'client backend' and pid <> pg_backend_pid()
    and (state <> 'idle' or wait_event_type = 'Lock')`;

/** Notes what happens to the database during a round, to explain for how long the service is away. */
export class DatabaseWatch {
  readonly #database: Pick<PatroniCluster, "members" | "query">;
  readonly #gaps: () => ServiceGaps;
  readonly #beganMs = performance.now();
  readonly #lines: string[] = [];
  readonly #looking: Promise<void>;
  #isOver = false;
  #members = "";

  constructor(database: Pick<PatroniCluster, "members" | "query">, gaps: () => ServiceGaps) {
    this.#database = database;
    this.#gaps = gaps;
    this.#looking = this.#lookOnAndOn();
  }

  /** Ends it. Resolves to a line for each change of roles and each look at a standstill. */
  async end(): Promise<readonly string[]> {
    this.#isOver = true;
    await this.#looking;
    return this.#lines;
  }

  async #lookOnAndOn(): Promise<void> {
    while (!this.#isOver) {
      await this.#look();
      await wait(LOOK_MS);
    }
  }

  async #look(): Promise<void> {
    const members = await this.#database.members();
    if (members !== this.#members) this.#note(members);
    this.#members = members;
    if (this.#gaps().currentMs < AWAY_MS_MIN) return;
    const asked = this.#database
      .query(WAITS)
      .catch((error: Error) => `no answer: ${error.message}`);
    const late = new AbortController();
    const lateness = wait(ANSWER_MS_MAX, "no answer", late).catch(() => "");
    const answer = await Promise.race([asked, lateness]);
    late.abort();
    for (const line of answer.split("\n").filter(Boolean)) this.#note(line);
  }

  #note(what: string): void {
    const seconds = ((performance.now() - this.#beganMs) / 1_000).toFixed(1);
    if (this.#lines.length < LINES_MAX) this.#lines.push(`${seconds} s: ${what.slice(0, 300)}`);
  }
}
