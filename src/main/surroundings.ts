import type { Clock } from "../base/clock.ts";
import type { Schedule } from "../base/schedule.ts";
import type { FailStop } from "../store/store.ts";
import type { Terminal } from "./log.ts";
import type { ProgressOutput } from "./progress-bar.ts";

/** What the server needs from its process; tests bring their own. */
export interface Surroundings extends Terminal {
  readonly clock: Clock;
  readonly schedule: Schedule;
  /** For tests: the time of records that several front ends have, instead of the database's. */
  readonly sharedClock?: Clock;
  /** The value of the `Server` header. */
  readonly software: string;
  /** Called when the engine has failed and serves nothing any more: the process must end. */
  readonly failStop: FailStop;
  /** For requests to the server itself; without it there are none. */
  readonly adminToken?: string;
}

/** What a command that works on data needs from its process. */
export interface CommandSurroundings extends Terminal {
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly failStop: FailStop;
  /** The output for progress; a terminal shows it in one line. */
  readonly progress: ProgressOutput;
  /** Aborted by Ctrl-C; a command that has none ends at once. */
  readonly signal?: AbortSignal;
}
