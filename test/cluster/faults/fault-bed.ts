import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
// tidy-allow sleep: only asking tells whether a front end has come back
import { setTimeout as wait } from "node:timers/promises";
import { s3Url } from "../../../src/engine/s3/s3-place.ts";
import { LazuliProcess } from "../../command/process.ts";
import { createBucket, placeOf, urlOf } from "../../s3/object-store.ts";
import { type Radosgw, startRadosgw } from "../../s3/radosgw.ts";
import { type Clients, clientsOf, type Ports } from "./clients.ts";
import { PatroniCluster } from "./patroni.ts";
import { ServiceGaps } from "./service-gaps.ts";
import { type Host, TestNetwork } from "./test-network.ts";

const FRONT_ENDS = 3;
const OSDS = 3;
const PORTS: Ports = { blob: 10_000, queue: 10_001, table: 10_002, file: 10_003, smb: 10_445 };

/** Longer than a front end takes to find its database and to begin anew. */
const READY_MS_MAX = 60_000;
const LOOK_MS_MAX = 2_000;
const LOG_LINES_MAX = 12;
const LOOK_AGAIN_MS = 200;

/** A front end on a machine of its own. */
export class BedFrontEnd {
  readonly host: Host;
  readonly clients: Clients;
  readonly #args: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  #process: LazuliProcess | null = null;
  #logged = 0;

  constructor(host: Host, args: readonly string[], env: Readonly<Record<string, string>>) {
    this.host = host;
    this.#args = args;
    this.#env = env;
    this.clients = clientsOf(host.address, PORTS, {
      ...{ name: host.name, trouble: "none", gaps: new ServiceGaps() },
    });
  }

  get isRunning(): boolean {
    return this.#process?.isRunning === true;
  }

  /** Starts it, as a supervisor does, and resolves when it serves. `env` is added to its environment. */
  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    for (const untilMs = performance.now() + READY_MS_MAX; ; ) {
      try {
        return await this.#startOnce(env);
      } catch (error) {
        // There may be no primary at the moment.
        if (performance.now() > untilMs) throw error;
        await wait(LOOK_AGAIN_MS);
      }
    }
  }

  async #startOnce(env: Readonly<Record<string, string>>): Promise<void> {
    const ports = Object.entries(PORTS).flatMap(([name, port]) => [`--${name}Port`, `${port}`]);
    const where = ["--host", this.host.address, "--trustNetwork", ...ports];
    const all = ["start", ...this.#args, ...where, "--services", Object.keys(PORTS).join()];
    const process = new LazuliProcess(all, { ...this.#env, ...env }, this.host.within);
    this.#process = process;
    this.#logged = 0;
    await process.urlOf("Blob");
  }

  /** Whether its process has loaded this library. */
  uses(library: string): boolean {
    return readFileSync(`/proc/${this.#process?.pid}/maps`, "utf8").includes(library);
  }

  /** Stops its process, which seems to be dead, until `goOn`. */
  stop(): void {
    this.#suffers("away");
    this.#process?.signal("SIGSTOP");
  }

  goOn(): void {
    this.#process?.signal("SIGCONT");
  }

  /** Pulls its network cable, until `host.mend`. */
  cut(): void {
    this.#suffers("away");
    this.host.cut();
  }

  /** Ends it in order. */
  async end(): Promise<void> {
    this.#suffers("ended");
    this.#process?.signal("SIGTERM");
    await this.#process?.ended();
  }

  /** What it said last; null if it runs, or was never started. */
  get lastWords(): string | null {
    if (this.#process === null || this.isRunning) return null;
    return this.#process.errors.trimEnd().split("\n").at(-1) ?? "";
  }

  async kill(): Promise<void> {
    this.#suffers("ended");
    await this.#process?.kill();
  }

  /** Forgets what has happened to it. */
  recovered(): void {
    this.clients.state.trouble = "none";
    this.clients.state.gaps = new ServiceGaps();
    this.#logged = this.#process?.errors.length ?? 0;
  }

  /** What it has logged since. */
  get log(): readonly string[] {
    const lines = this.#process?.errors.slice(this.#logged).trimEnd().split("\n") ?? [];
    return lines.slice(-LOG_LINES_MAX).map((line) => `${this.host.name}: ${line}`);
  }

  #suffers(trouble: "away" | "ended"): void {
    const { state } = this.clients;
    if (state.trouble !== "ended") state.trouble = trouble;
  }
}

/** Three front ends, PostgreSQL under Patroni with a synchronous standby, and an object store. */
export class FaultBed {
  readonly database: PatroniCluster;
  readonly objects: Radosgw | null;
  readonly frontEnds: readonly BedFrontEnd[];
  readonly #network: TestNetwork;
  readonly #folder: string;
  #removed: Promise<void> | null = null;

  private constructor(
    network: TestNetwork,
    folder: string,
    database: PatroniCluster,
    objects: Radosgw | null,
    frontEnds: readonly BedFrontEnd[],
  ) {
    this.#network = network;
    this.#folder = folder;
    this.database = database;
    this.objects = objects;
    this.frontEnds = frontEnds;
  }

  /** Starts everything. Bytes are in a bucket, or in a folder that all machines see. */
  static async start(bytes: "s3" | "folder"): Promise<FaultBed> {
    const folder = mkdtempSync(join(tmpdir(), "lazuli-bed-"));
    chmodSync(folder, 0o755);
    const network = new TestNetwork();
    let objects: Radosgw | null = null;
    try {
      const database = await PatroniCluster.start(mkdtempSync(join(folder, "pg-")), network);
      if (bytes === "s3") {
        objects = await startRadosgw({ host: network.address, osds: OSDS });
      }
      const { place, env } =
        objects === null
          ? { place: ["--bytes", join(folder, "bytes")], env: {} }
          : await bucketIn(objects);
      const frontEnds = Array.from({ length: FRONT_ENDS }, (_, at) => {
        const host = network.addHost(`fe${at + 1}`);
        return new BedFrontEnd(host, ["--records", database.url, ...place], env);
      });
      const bed = new FaultBed(network, folder, database, objects, frontEnds);
      await bed.heal();
      return bed;
    } catch (error) {
      network.remove();
      await objects?.stop();
      throw error;
    }
  }

  /** Makes everything whole again. Resolves to what no front end may do: end, or stay away. */
  async heal(): Promise<string[]> {
    const wrong = this.frontEnds.flatMap(({ host, lastWords }) =>
      lastWords === null ? [] : [`${host.name} has ended: ${lastWords}`],
    );
    for (const frontEnd of this.frontEnds) {
      frontEnd.host.mend();
      frontEnd.goOn();
    }
    for (const host of this.database.hosts) host.mend();
    await this.database.ready();
    for (const frontEnd of this.frontEnds) if (!frontEnd.isRunning) await frontEnd.start();
    for (const { host, clients } of this.frontEnds) {
      if (!(await becomesReady(clients))) wrong.push(`${host.name} does not come back`);
    }
    return wrong;
  }

  /** Ends everything. A round that is under way fails. */
  remove(): Promise<void> {
    this.#removed ??= this.#remove();
    return this.#removed;
  }

  async #remove(): Promise<void> {
    for (const frontEnd of this.frontEnds) await frontEnd.kill();
    this.#network.remove();
    await this.objects?.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function becomesReady({ health }: Clients): Promise<boolean> {
  for (const untilMs = performance.now() + READY_MS_MAX; performance.now() < untilMs; ) {
    const signal = AbortSignal.timeout(LOOK_MS_MAX);
    const answer = await fetch(health, { signal }).catch(() => null);
    await answer?.body?.cancel().catch(() => {});
    if (answer?.ok) return true;
    await wait(LOOK_AGAIN_MS);
  }
  return false;
}

/** Flags and environment for a new bucket. */
async function bucketIn(objects: Radosgw) {
  const place = placeOf(urlOf(objects));
  await createBucket(place);
  const env = {
    AWS_ACCESS_KEY_ID: objects.accessKeyId,
    AWS_SECRET_ACCESS_KEY: objects.secretAccessKey,
  };
  return { place: ["--bytes", s3Url(place), "--s3Endpoint", objects.endpoint], env };
}
