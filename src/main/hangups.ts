import { closeSync, openSync } from "node:fs";

/** The part of `process` that emits SIGHUP and messages of the parent process. */
export interface HangupSource {
  on(event: "SIGHUP" | "message", listener: (message?: unknown) => void): unknown;
}

/** Sent over IPC in place of a SIGHUP, mostly on Windows, which lacks signals. */
const RELOAD_MESSAGE = "reload";

/** What a SIGHUP makes the server do. It reports its failures itself. */
export type OnHangup = () => Promise<void>;

/**
 * Runs what SIGHUP asks for: logs are reopened, settings read again. One round runs at a time, and
 * signals during a round ask for one more. If the terminal was closed, SIGHUP stops the server
 * instead. A signal during the start waits for its end.
 */
export class Hangups {
  #handlers: readonly OnHangup[] | null = null;
  readonly #isTerminalClosed: () => boolean;
  #stop: () => void = () => {};
  #isAsked = false;
  #isRunning = false;

  /** Listens at once, because an unheard SIGHUP ends the process. */
  constructor(source: HangupSource, isTerminalClosed: () => boolean) {
    this.#isTerminalClosed = isTerminalClosed;
    source.on("SIGHUP", () => this.#hangUp());
    source.on("message", (message) => {
      if (message === RELOAD_MESSAGE) this.#ask();
    });
  }

  /**
   * The server runs now. The handlers run in this order, each after the one before. `stop` stops it
   * when its terminal was closed.
   */
  begin(stop: () => void, ...handlers: readonly OnHangup[]): void {
    this.#handlers = handlers;
    this.#stop = stop;
    if (this.#isAsked) this.#hangUp();
  }

  #hangUp(): void {
    if (this.#handlers !== null && this.#isTerminalClosed()) this.#stop();
    else this.#ask();
  }

  #ask(): void {
    this.#isAsked = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    if (this.#handlers === null || this.#isRunning) return;
    this.#isRunning = true;
    while (this.#isAsked) {
      this.#isAsked = false;
      for (const handle of this.#handlers) await handle();
    }
    this.#isRunning = false;
  }
}

/** What tells a SIGHUP that an operator sends from one that a closing terminal sends. */
export interface TerminalTraits {
  readonly platform: NodeJS.Platform;
  /** Whether the process was started in a terminal, with its input. */
  readonly isInteractive: boolean;
  /** Whether the process still has a terminal. */
  hasTerminal(): boolean;
}

/**
 * Whether a SIGHUP says that the terminal of the server was closed, so that the server stops with
 * it. On Windows it always does: there the system ends the process soon after.
 */
export function isTerminalClosed({ platform, isInteractive, hasTerminal }: TerminalTraits) {
  return platform === "win32" || (isInteractive && !hasTerminal());
}

export function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}
