import { randomUUID } from "node:crypto";
import type { Bytes } from "../base/bytes.ts";
import type { Schedule } from "../base/schedule.ts";
import type { AdminAnswer, AdminDoor } from "../front/rest/http/admin.ts";
import { isDamageError } from "../store/store.ts";
import { StartError } from "./start-error.ts";

/** A task that nobody has asked to go on for this long is ended: its command was killed. */
const IDLE_MS_MAX = 60_000;
/** Each may hold pins and memory. */
const TASKS_MAX = 4;

/** Long work for a command on this machine, which goes on only while the command asks for it. */
export interface LocalTask {
  /** Does some more work, at most about a second, and returns what came of it. */
  next(): Promise<string | Bytes>;
  close(): Promise<void> | void;
}

/** What a command sends to a door: it begins a task, lets it go on, and ends it. */
export type TaskRequest =
  | { readonly begin: unknown }
  | { readonly next: string }
  | { readonly end: string };

/** Answers other than 200. A failed task is ended. */
export const NO_TASK = 404;
export const TASK_FAILED = 422;
export const TASK_FOUND_DAMAGE = 409;
const TOO_MANY = 429;

interface Running {
  readonly task: LocalTask;
  idle: { cancel(): void };
}

/** The tasks of a server that its doors have begun. */
export class LocalTasks {
  readonly #schedule: Schedule;
  readonly #running = new Map<string, Running>();

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
  }

  /** A door through which commands use tasks of one kind. */
  door(begin: (asked: unknown) => Promise<LocalTask>): AdminDoor {
    return async (body) => {
      try {
        return await this.#answer(JSON.parse(body.toString() || "{}"), begin);
      } catch (error) {
        if (isDamageError(error)) return { status: TASK_FOUND_DAMAGE, body: error.message };
        if (error instanceof StartError) return { status: TASK_FAILED, body: error.message };
        throw error;
      }
    };
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((id) => this.#end(id)));
  }

  async #answer(
    asked: TaskRequest,
    begin: (asked: unknown) => Promise<LocalTask>,
  ): Promise<AdminAnswer> {
    if ("begin" in asked) return this.#begin(await begin(asked.begin));
    if ("next" in asked) return this.#next(asked.next);
    if ("end" in asked) await this.#end(asked.end);
    return { status: 200, body: "" };
  }

  async #begin(task: LocalTask): Promise<AdminAnswer> {
    if (this.#running.size >= TASKS_MAX) {
      await task.close();
      const body = `${TASKS_MAX} commands like this are under way: wait until one has ended.`;
      return { status: TOO_MANY, body };
    }
    const id = randomUUID();
    this.#running.set(id, { task, idle: this.#endLater(id) });
    return { status: 200, body: id };
  }

  async #next(id: string): Promise<AdminAnswer> {
    const running = this.#running.get(id);
    if (running === undefined) return { status: NO_TASK, body: "The server has ended this task." };
    running.idle.cancel();
    try {
      const body = await running.task.next();
      running.idle = this.#endLater(id);
      return { status: 200, body };
    } catch (error) {
      await this.#end(id);
      throw error;
    }
  }

  async #end(id: string): Promise<void> {
    const running = this.#running.get(id);
    this.#running.delete(id);
    running?.idle.cancel();
    await running?.task.close();
  }

  #endLater(id: string): { cancel(): void } {
    return this.#schedule(() => void this.#end(id), IDLE_MS_MAX);
  }
}

/** How long a task works before it tells how far it is. */
const ROUND_MS = 250;

/** A task that yields its progress: each answer is JSON with the progress, or with the result. */
export function progressTask<Result>(
  work: AsyncGenerator<unknown, Result>,
  elapsedMs: () => number,
): LocalTask {
  return {
    async next() {
      const untilMs = elapsedMs() + ROUND_MS;
      for (;;) {
        const step = await work.next();
        if (step.done === true) return JSON.stringify({ done: step.value });
        if (elapsedMs() >= untilMs) return JSON.stringify({ progress: step.value });
      }
    },
    close: async () => {
      await work.return(undefined as Result);
    },
  };
}
