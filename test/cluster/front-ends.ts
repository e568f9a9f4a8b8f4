import { SERVICES } from "../../src/main/flags.ts";
import { freePorts } from "../command/free-ports.ts";
import { LazuliProcess } from "../command/process.ts";
import type { Ports } from "./haproxy.ts";

const NAMES = ["blob", "queue", "table", "file", "dfs"] as const;
type Service = (typeof NAMES)[number];

/** A front end that always listens at the same ports, whenever it is started. */
export class FrontEnd {
  readonly ports: Ports;
  readonly #args: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  #process: LazuliProcess | null = null;

  private constructor(
    ports: Ports,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
  ) {
    this.ports = ports;
    this.#args = args;
    this.#env = env;
  }

  /** Chooses ports. `args` name records and bytes. */
  static async plan(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<FrontEnd> {
    const free = await freePorts(NAMES.length);
    const ports = new Map(NAMES.map((name, at) => [SERVICES[name].port, free[at] as number]));
    return new FrontEnd(ports, args, env);
  }

  origin(service: Service): string {
    return `http://127.0.0.1:${this.ports.get(SERVICES[service].port)}`;
  }

  /** Starts a process, and resolves when it serves. */
  async start(): Promise<LazuliProcess> {
    const ports = NAMES.flatMap((name) => [
      `--${name}Port`,
      `${this.ports.get(SERVICES[name].port)}`,
    ]);
    const process = new LazuliProcess(
      ["start", ...this.#args, ...ports, "--smbPort", "0"],
      this.#env,
    );
    this.#process = process;
    await process.urlOf("Blob");
    return process;
  }

  /** Ends the process in the way of a service manager; resolves to its exit code. */
  async stop(): Promise<number | null> {
    this.#process?.signal("SIGTERM");
    return (await this.#process?.ended())?.code ?? null;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.signal(signal);
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
  }
}
