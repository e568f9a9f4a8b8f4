import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Azurite } from "./azurite.ts";
import { startChild, stopChild } from "./children.ts";

export const SERVER_NAMES = ["lazuli", "floor", "azurite"] as const;
export type ServerName = (typeof SERVER_NAMES)[number];

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const START_MS_MAX = 60_000;

/** A server that runs, alone, until the measurement is over. */
export interface Target {
  readonly pid: number;
  /** Of the service that is measured: Blob, unless a row turns to another. */
  readonly port: number;
  readonly queuePort: number;
  readonly tablePort: number;
  readonly filePort: number;
  /** From the start of the process until it said that it is ready. */
  readonly readyMs: number;
}

/** Where servers come from and keep their data. */
export class Servers {
  readonly #azurite: Azurite | null;
  readonly #scratch: string;
  /** Node's own flags for our server. */
  readonly #nodeFlags: string[];

  constructor(scratch: string, azurite: Azurite | null, profileFolder: string | null) {
    this.#scratch = scratch;
    this.#azurite = azurite;
    this.#nodeFlags =
      profileFolder === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileFolder}`];
  }

  get names(): ServerName[] {
    return SERVER_NAMES.filter((name) => name !== "azurite" || this.#azurite !== null);
  }

  /** Runs `body` with a server that has no data yet. */
  async withFresh<T>(name: ServerName, body: (target: Target) => Promise<T>): Promise<T> {
    const folder = this.newFolder();
    try {
      return await this.withFolder(name, folder, body);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  async withFolder<T>(
    name: ServerName,
    folder: string,
    body: (target: Target) => Promise<T>,
  ): Promise<T> {
    const [port, queuePort, tablePort, filePort] = await freePorts();
    const ports = { port, queuePort, tablePort, filePort };
    const [command, args] = this.#commandOf(name, folder, ports);
    const startedMs = performance.now();
    const child = startChild(command, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    try {
      // The service that is the last to say that it is ready.
      const last = { floor: port, azurite: tablePort, lazuli: filePort }[name];
      await untilReady(child, `http://127.0.0.1:${last}`);
      const readyMs = performance.now() - startedMs;
      return await body({ pid: child.pid as number, ...ports, readyMs });
    } finally {
      await stopChild(child);
    }
  }

  newFolder(): string {
    return mkdtempSync(join(this.#scratch, "data-"));
  }

  #commandOf(
    name: ServerName,
    folder: string,
    { port, queuePort, tablePort, filePort }: Omit<Target, "pid" | "readyMs">,
  ): [string, string[]] {
    const place = ["--location", folder, "--blobPort", String(port)];
    const others = ["--queuePort", `${queuePort}`, "--tablePort", `${tablePort}`];
    if (name === "floor") return [process.execPath, [join(ROOT, "dist/bench/floor.js"), `${port}`]];
    if (name === "lazuli") {
      const more = ["--filePort", `${filePort}`, "--dfsPort", "0", "--smbPort", "0"];
      const script = join(ROOT, "bin/lazuli.cjs");
      return [process.execPath, [...this.#nodeFlags, script, ...place, ...others, ...more]];
    }
    if (this.#azurite === null) throw new Error("Azurite is not installed.");
    const switches = ["--silent", "--skipApiVersionCheck", "--disableTelemetry"];
    return [this.#azurite.node, [this.#azurite.script, ...place, ...others, ...switches]];
  }
}

/** Resolves when the server prints that it listens at the address. */
function untilReady(child: ChildProcess, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let printed = "";
    const timer = setTimeout(() => fail(`was not ready after ${START_MS_MAX} ms`), START_MS_MAX);
    const fail = (what: string) => {
      clearTimeout(timer);
      reject(new Error(`The server ${what}: ${printed.trim() || "it printed nothing"}`));
    };
    const take = (text: string) => {
      printed = (printed + text).slice(-8_192);
      // Azurite also announces that it is about to start there.
      const isReady = printed
        .split("\n")
        .some((line) => line.includes(address) && !line.includes("is starting"));
      if (!isReady) return;
      clearTimeout(timer);
      resolve();
    };
    child.stdout?.setEncoding("utf8").on("data", take);
    child.stderr?.setEncoding("utf8").on("data", take);
    child.on("error", (error) => fail(`could not be started (${error.message})`));
    child.on("exit", (code) => fail(`ended with code ${code}`));
  });
}

async function freePorts(): Promise<[number, number, number, number]> {
  return Promise.all([freePort(), freePort(), freePort(), freePort()]);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}
