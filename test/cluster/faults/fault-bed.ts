import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { s3Url } from "../../../src/engine/s3/s3-place.ts";
import { LazuliProcess } from "../../command/process.ts";
import { createBucket, placeOf, urlOf } from "../../s3/object-store.ts";
import { type Radosgw, startRadosgw } from "../../s3/radosgw.ts";
import { type Clients, clientsOf } from "./clients.ts";
import { PatroniCluster } from "./patroni.ts";
import { type Host, TestNetwork } from "./test-network.ts";

const FRONT_ENDS = 3;
const OSDS = 3;
const PORTS = { blob: 10_000, queue: 10_001, table: 10_002, file: 10_003 };

/** A front end on a machine of its own. */
export class BedFrontEnd {
  readonly host: Host;
  readonly clients: Clients;
  readonly #args: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  #process: LazuliProcess | null = null;

  constructor(host: Host, args: readonly string[], env: Readonly<Record<string, string>>) {
    this.host = host;
    this.#args = args;
    this.#env = env;
    const origin = (port: number) => `http://${host.address}:${port}`;
    const { blob, queue, table, file } = PORTS;
    this.clients = clientsOf({
      blob: origin(blob),
      queue: origin(queue),
      table: origin(table),
      file: origin(file),
    });
  }

  get isRunning(): boolean {
    return this.#process?.isRunning === true;
  }

  /** Starts it, and resolves when it serves. `env` is added to its environment. */
  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    const ports = Object.entries(PORTS).flatMap(([name, port]) => [`--${name}Port`, `${port}`]);
    const where = ["--host", this.host.address, "--trustNetwork", ...ports];
    const all = ["start", ...this.#args, ...where, "--services", Object.keys(PORTS).join()];
    const process = new LazuliProcess(all, { ...this.#env, ...env }, this.host.within);
    this.#process = process;
    await process.urlOf("Blob");
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.signal(signal);
  }

  /** What it said last; null if it runs, or was never started. */
  get lastWords(): string | null {
    if (this.#process === null || this.isRunning) return null;
    return this.#process.errors.trimEnd().split("\n").at(-1) ?? "";
  }

  async ended(): Promise<void> {
    await this.#process?.ended();
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
  }
}

/** Three front ends, PostgreSQL under Patroni with a synchronous standby, and an object store. */
export class FaultBed {
  readonly database: PatroniCluster;
  readonly objects: Radosgw | null;
  readonly frontEnds: readonly BedFrontEnd[];
  readonly #network: TestNetwork;
  readonly #folder: string;

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

  /** Makes everything whole again. Resolves to the last words of front ends that have ended. */
  async heal(): Promise<string[]> {
    const ended = this.frontEnds.flatMap(({ lastWords }) => lastWords ?? []);
    for (const frontEnd of this.frontEnds) {
      frontEnd.host.mend();
      frontEnd.signal("SIGCONT");
    }
    for (const host of this.database.hosts) host.mend();
    await this.database.ready();
    for (const frontEnd of this.frontEnds) if (!frontEnd.isRunning) await frontEnd.start();
    return ended;
  }

  async remove(): Promise<void> {
    for (const frontEnd of this.frontEnds) await frontEnd.kill();
    this.#network.remove();
    await this.objects?.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
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
