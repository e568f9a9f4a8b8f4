import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePorts } from "../test/command/free-ports.ts";
import type { Azurite } from "./azurite.ts";
import { startChild, stopChild } from "./children.ts";
import { type Samba, sambaCommand, untilAnswered } from "./samba.ts";

/** `observed` is our server with everything on that watches requests. */
export const SERVER_NAMES = ["lazuli", "observed", "floor", "azurite", "samba"] as const;
export type ServerName = (typeof SERVER_NAMES)[number];

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const START_MS_MAX = 60_000;

/** A server that runs alone until the measurement is over. */
export interface Target {
  readonly pid: number;
  /** The port of the measured service: Blob, unless a row sets another. */
  readonly port: number;
  readonly queuePort: number;
  readonly tablePort: number;
  readonly filePort: number;
  readonly dfsPort: number;
  readonly smbPort: number;
  /** Time from the start of the process until it reports that it is ready. */
  readonly readyMs: number;
}

type Ports = Omit<Target, "pid" | "readyMs">;

/** Starts servers and owns their data folders. */
export class Servers {
  readonly #azurite: Azurite | null;
  readonly #samba: Samba | null;
  readonly #scratch: string;
  /** Runs our server. */
  readonly #node: string;
  /** Node's own flags for our server. */
  readonly #nodeFlags: string[];

  constructor(
    scratch: string,
    { azurite, samba }: { readonly azurite: Azurite | null; readonly samba: Samba | null },
    node: string,
    profileFolder: string | null,
  ) {
    this.#node = node;
    this.#scratch = scratch;
    this.#azurite = azurite;
    this.#samba = samba;
    this.#nodeFlags =
      profileFolder === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileFolder}`];
  }

  get names(): ServerName[] {
    const absent = new Set<ServerName>();
    if (this.#azurite === null) absent.add("azurite");
    if (this.#samba === null) absent.add("samba");
    return SERVER_NAMES.filter((name) => !absent.has(name));
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
    const [port = 0, queuePort = 0, tablePort = 0, filePort = 0, dfsPort = 0, smbPort = 0] =
      await freePorts(6);
    const ports = { port, queuePort, tablePort, filePort, dfsPort, smbPort };
    const [command, args] = this.#commandOf(name, folder, ports);
    const startedMs = performance.now();
    const child = startChild(command, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    try {
      await untilServing(name, child, ports);
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
    { port, queuePort, tablePort, filePort, dfsPort, smbPort }: Ports,
  ): [string, string[]] {
    const place = ["--location", folder, "--blobPort", String(port)];
    const others = ["--queuePort", `${queuePort}`, "--tablePort", `${tablePort}`];
    if (name === "floor") return [process.execPath, [join(ROOT, "dist/bench/floor.js"), `${port}`]];
    if (name === "lazuli" || name === "observed") {
      const lake = ["--dfsPort", `${dfsPort}`];
      const more = ["--filePort", `${filePort}`, ...lake, "--smbPort", `${smbPort}`];
      const watched = name === "lazuli" ? [] : observing(folder);
      const script = join(ROOT, "bin/lazuli.cjs");
      const flags = [...place, ...others, ...more, ...watched];
      return [this.#node, [...this.#nodeFlags, script, ...flags]];
    }
    if (name === "samba") return sambaCommand(folder, smbPort);
    if (this.#azurite === null) throw new Error("Azurite is not installed.");
    const switches = ["--silent", "--skipApiVersionCheck", "--disableTelemetry"];
    return [this.#azurite.node, [this.#azurite.script, ...place, ...others, ...switches]];
  }
}

/** The flags that watch requests. */
function observing(folder: string): string[] {
  const log = ["--log", join(folder, "requests.log"), "--logFormat", "json"];
  return [...log, "--metricsPort", "0"];
}

async function untilServing(name: ServerName, child: ChildProcess, ports: Ports): Promise<void> {
  if (name === "samba") {
    await untilAnswered(ports.smbPort, () => child.exitCode !== null);
    return;
  }
  // The service that reports last that it is ready.
  const last = {
    floor: `http://127.0.0.1:${ports.port}`,
    azurite: `http://127.0.0.1:${ports.tablePort}`,
    lazuli: `smb://127.0.0.1:${ports.smbPort}`,
    observed: `smb://127.0.0.1:${ports.smbPort}`,
  };
  await untilReady(child, last[name]);
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
