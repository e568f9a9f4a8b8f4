import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../../../bin/", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Invocation {
  /** A command of package.json's `bin`. */
  readonly program?: string;
  /** The folder of the commands; by default this project's. */
  readonly bin?: string;
  /** The folder in which it is started. */
  readonly cwd?: string;
  /** Whether it has an IPC channel. */
  readonly hasChannel?: boolean;
}

/** The `lazuli` command as its own process, as a user runs it. */
export class LazuliProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<Ended>;
  #out = "";
  #err = "";
  #onOut = () => {};
  #onErr = () => {};

  /** `within` is a program with arguments that runs the command given after them. */
  constructor(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    within: readonly string[] = [],
    { program = "lazuli", bin = BIN, cwd, hasChannel = false }: Invocation = {},
  ) {
    const script = join(bin, `${program}.cjs`);
    const [file = "", ...all] = [...within, process.execPath, script, ...args];
    this.#child = spawn(file, all, {
      ...(cwd === undefined ? {} : { cwd }),
      env: { ...process.env, AZURITE_ACCOUNTS: "", ...env },
      stdio: ["ignore", "pipe", "pipe", ...(hasChannel ? (["ipc"] as const) : [])],
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.#out += text;
      this.#onOut();
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#err += text;
      this.#onErr();
    });
    this.#ended = once(this.#child, "close").then(([code]) => {
      this.#onOut();
      this.#onErr();
      return { code, out: this.#out, err: this.#err };
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  ended(): Promise<Ended> {
    return this.#ended;
  }

  /** What it has printed on standard error so far. */
  get errors(): string {
    return this.#err;
  }

  /** Returns the first line on standard output. */
  async firstLine(): Promise<string> {
    return (await this.printed(/^(.*)\n/)) as string;
  }

  /** Resolves with what the pattern captures on standard output. */
  printed(pattern: RegExp): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      this.#onOut = () => {
        const found = pattern.exec(this.#out);
        if (found !== null) resolve(found[1]);
        else if (!this.isRunning) reject(new Error(`it ended: ${this.#out}${this.#err}`));
      };
      this.#onOut();
    });
  }

  /** Resolves once the pattern is found `count` times on standard error. */
  printedError(pattern: RegExp, count = 1): Promise<void> {
    const all = new RegExp(pattern, `${pattern.flags.replace("g", "")}g`);
    return new Promise((resolve, reject) => {
      this.#onErr = () => {
        if ([...this.#err.matchAll(all)].length >= count) resolve();
        else if (!this.isRunning) reject(new Error(`it ended: ${this.#out}${this.#err}`));
      };
      this.#onErr();
    });
  }

  /** Returns the URL of a service: `http://127.0.0.1:port/devstoreaccount1`. */
  async urlOf(service: "Blob" | "DFS" | "File" | "Queue" | "Table"): Promise<string> {
    const ready = new RegExp(`^${service} service .* (http://\\S+)\n`, "m");
    return `${await this.printed(ready)}/devstoreaccount1`;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sends a message like a parent process with an IPC channel. */
  send(message: string): void {
    this.#child.send(message);
  }

  /** Kills the process at the end of a test, unless it has ended. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }
}
