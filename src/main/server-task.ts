import type { Bytes } from "../base/bytes.ts";
import { askServer, findServer, isOfAnother, type ServerAnswer } from "./ask-server.ts";
import type { Control } from "./control-file.ts";
import { TASK_FOUND_DAMAGE } from "./local-tasks.ts";
import { DamageFound, StartError } from "./start-error.ts";

const DONE = 200;

/** A task in the server on a data folder, as a command sees it. */
export class ServerTask {
  readonly #control: Control;
  readonly #door: string;
  readonly #id: string;

  private constructor(control: Control, door: string, id: string) {
    this.#control = control;
    this.#door = door;
    this.#id = id;
  }

  /** Begins a task. Null if no server runs on the folder. Throws a `StartError`. */
  static async begin(location: string, door: string, asked: unknown): Promise<ServerTask | null> {
    const control = await findServer(location);
    const body = JSON.stringify({ begin: asked });
    const answer = control === null ? null : await askServer(control, door, body);
    if (control === null || answer === null || isOfAnother(answer)) return null;
    return new ServerTask(control, door, textOf(answer));
  }

  /** Lets the task go on, and resolves to what came of it. Throws a `StartError` if it failed. */
  async next(): Promise<Bytes> {
    const answer = await askServer(this.#control, this.#door, JSON.stringify({ next: this.#id }));
    if (answer === null) throw new StartError("The server has stopped meanwhile. Try again.");
    if (answer.status !== DONE) textOf(answer);
    return answer.body;
  }

  /** Ends the task, whether it is done or not. Never rejects. */
  async end(): Promise<void> {
    const body = JSON.stringify({ end: this.#id });
    await askServer(this.#control, this.#door, body).catch(() => {});
  }
}

function textOf({ status, body }: ServerAnswer): string {
  const text = body.toString().trimEnd();
  if (status === DONE) return text;
  throw status === TASK_FOUND_DAMAGE ? new DamageFound(text) : new StartError(text);
}

/** What a task answers that yields its progress. */
type Told<Progress, Result> = { readonly progress: Progress } | { readonly done: Result };

/** Runs a task to its end. Null if no server runs on the folder. */
export async function runServerTask<Progress, Result>(
  location: string,
  door: string,
  asked: unknown,
  onProgress: (progress: Progress) => void,
): Promise<{ readonly result: Result } | null> {
  const task = await ServerTask.begin(location, door, asked);
  if (task === null) return null;
  try {
    for (;;) {
      const told: Told<Progress, Result> = JSON.parse((await task.next()).toString());
      if ("done" in told) return { result: told.done };
      onProgress(told.progress);
    }
  } finally {
    await task.end();
  }
}
