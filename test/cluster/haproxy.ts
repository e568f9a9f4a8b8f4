import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
// tidy-allow sleep: only asking tells what the balancer thinks of a server
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePorts } from "../command/free-ports.ts";

const SHIPPED = fileURLToPath(new URL("../../../deploy/cluster/haproxy.cfg", import.meta.url));
const ASK_AGAIN_MS = 50;

/** The port of each service at a front end, by the port that it has in the shipped files. */
export type Ports = ReadonlyMap<number, number>;

/** The shipped configuration of haproxy, with front ends on this machine. */
export class Haproxy {
  /** `http://127.0.0.1:port`, by the port that clients use in the shipped files. */
  readonly origins: ReadonlyMap<number, string>;
  readonly #child: ChildProcess;
  readonly #socket: string;

  private constructor(child: ChildProcess, origins: Map<number, string>, socket: string) {
    this.#child = child;
    this.origins = origins;
    this.#socket = socket;
  }

  /** Starts it, in a folder for its files. */
  static async start(folder: string, frontEnds: readonly Ports[]): Promise<Haproxy> {
    const socket = join(folder, "haproxy.sock");
    const { config, origins } = await configFor(frontEnds);
    const file = join(folder, "haproxy.cfg");
    await writeFile(file, `global\n  stats socket ${socket}\n${config}`);
    const child = spawn("haproxy", ["-db", "-q", "-f", file], { stdio: "ignore" });
    return new Haproxy(child, origins, socket);
  }

  /** Resolves when every service of a front end, numbered from 1, is in this state. */
  becomes(frontEnd: number, state: "UP" | "DOWN"): Promise<void> {
    return this.#until(frontEnd, "status", (cell) => cell.startsWith(state));
  }

  /** Resolves when no client is connected to a front end. */
  leaves(frontEnd: number): Promise<void> {
    return this.#until(frontEnd, "scur", (cell) => cell === "0");
  }

  async #until(frontEnd: number, column: string, isSo: (cell: string) => boolean): Promise<void> {
    for (;;) {
      const cells = await this.#cells(`front-end-${frontEnd}`, column);
      if (cells.length > 0 && cells.every(isSo)) return;
      if (this.#child.exitCode !== null) throw new Error("haproxy has ended");
      await wait(ASK_AGAIN_MS);
    }
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }

  /** A column of the balancer's statistics, for each service of a server. */
  async #cells(server: string, column: string): Promise<string[]> {
    const connection = createConnection(this.#socket).on("error", () => {});
    connection.end("show stat\n");
    const [head = "", ...lines] = (await text(connection).catch(() => "")).split("\n");
    const at = head.split(",").indexOf(column);
    const cells = lines.map((line) => line.split(","));
    return cells.filter(([, name]) => name === server).map((row) => row[at] ?? "");
  }
}

/** What haproxy says about the shipped configuration; empty if it is valid. */
export function checkShipped(folder: string, frontEnds: readonly Ports[]): Promise<string> {
  return configFor(frontEnds).then(async ({ config }) => {
    const file = join(folder, "checked.cfg");
    await writeFile(file, config);
    return spawnSync("haproxy", ["-c", "-q", "-f", file], { encoding: "utf8" }).stderr;
  });
}

/** Only names of hosts and ports differ from what is shipped. */
async function configFor(frontEnds: readonly Ports[]) {
  const shipped = readFileSync(SHIPPED, "utf8");
  const bound = [...shipped.matchAll(/bind :(\d+)/g)].map(([, port]) => Number(port));
  const free = await freePorts(bound.length);
  const portOf = new Map(bound.map((port, at) => [port, free[at] as number]));
  const origins = new Map([...portOf].map(([port, own]) => [port, `http://127.0.0.1:${own}`]));
  const config = shipped
    .replace(/bind :(\d+)/g, (_, port) => `bind 127.0.0.1:${portOf.get(Number(port))}`)
    .replace(/(server front-end-(\d) )\S+:(\d+)/g, (_, start, number, port) => {
      return `${start}127.0.0.1:${frontEnds[number - 1]?.get(Number(port))}`;
    });
  return { config, origins };
}
