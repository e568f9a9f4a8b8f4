import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";

/** A machine of the test network: a network namespace with an address of its own. */
export interface Host {
  readonly name: string;
  readonly address: string;
  /** A program with arguments that runs the command given after them on this machine. */
  readonly within: readonly string[];
  /** Pulls its network cable: packets are lost without an error. */
  cut(): void;
  mend(): void;
  /** Ends all of its processes, as a loss of power does. */
  kill(): void;
}

/** Machines on one switch, on this computer. The test itself is at `address`. Needs root on Linux. */
export class TestNetwork {
  readonly address: string;
  /** In CIDR notation. */
  readonly subnet: string;
  readonly #name = `lz${randomInt(0x1000, 0xffff).toString(16)}`;
  readonly #start: string;
  readonly #namespaces: string[] = [];

  constructor() {
    this.#start = `10.${randomInt(100, 250)}.${randomInt(1, 250)}`;
    this.address = `${this.#start}.1`;
    this.subnet = `${this.#start}.0/24`;
    ip("link", "add", this.#name, "type", "bridge");
    ip("addr", "add", `${this.address}/24`, "dev", this.#name);
    ip("link", "set", this.#name, "up");
  }

  addHost(name: string): Host {
    const namespace = `${this.#name}-${name}`;
    const cable = `${this.#name}${name}`;
    const address = `${this.#start}.${10 + this.#namespaces.length}`;
    ip("netns", "add", namespace);
    this.#namespaces.push(namespace);
    ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", namespace);
    ip("link", "set", cable, "master", this.#name, "up");
    const inside = (...args: string[]) => ip("-n", namespace, ...args);
    inside("addr", "add", `${address}/24`, "dev", "eth0");
    inside("link", "set", "eth0", "up");
    inside("link", "set", "lo", "up");
    return {
      name,
      address,
      within: ["ip", "netns", "exec", namespace],
      cut: () => ip("link", "set", cable, "down"),
      mend: () => ip("link", "set", cable, "up"),
      kill: () => killAll(namespace),
    };
  }

  /** Ends everything that runs in it, and removes it. */
  remove(): void {
    for (const namespace of this.#namespaces) {
      killAll(namespace);
      ip("netns", "del", namespace);
    }
    ip("link", "del", this.#name);
  }
}

function killAll(namespace: string): void {
  // The next look finds processes that were started meanwhile.
  for (;;) {
    const { stdout } = spawnSync("ip", ["netns", "pids", namespace], { encoding: "utf8" });
    const ids = stdout.split("\n").filter((line) => line !== "");
    if (ids.length === 0) return;
    for (const id of ids) {
      try {
        process.kill(Number(id), "SIGKILL");
      } catch {
        // It has just ended.
      }
    }
  }
}

function ip(...args: string[]): void {
  const { status, stderr } = spawnSync("ip", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`ip ${args.join(" ")}: ${stderr}`);
}
