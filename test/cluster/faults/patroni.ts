import { execFile, execFileSync, spawn } from "node:child_process";
import { chownSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
// tidy-allow sleep: only asking tells what Patroni has decided
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { skipWithoutDebianPackage } from "../../programs/debian-program.ts";
import type { Host, TestNetwork } from "./test-network.ts";

const run = promisify(execFile);

const ASK_AGAIN_MS = 250;
const READY_MS_MAX = 4 * 60_000;
const REJOIN_MS_MAX = 45_000;
const PASSWORD = "for-tests-only";
const DATABASE = "lazuli";

/** Patroni permits no shorter time than this for the leader's key: a dead primary is noticed then. */
const LEADER_SECONDS = 20;

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
}

/** Why there is no Patroni; null if there is. */
export function skipWithoutPatroni(): string | null {
  const packages = "patroni etcd-server python3-etcd python3-psycopg2 postgresql";
  const probe = "command -v patroni && command -v etcd && ls /usr/lib/postgresql/*/bin/postgres";
  return skipWithoutDebianPackage("Patroni with etcd", packages, probe);
}

/** Two PostgreSQL servers under Patroni, one of them a synchronous standby, and etcd. */
export class PatroniCluster {
  readonly hosts: readonly Host[];
  readonly #etcd: Host;
  readonly #folder: string;
  readonly #subnet: string;

  private constructor(folder: string, network: TestNetwork) {
    this.#folder = folder;
    this.#subnet = network.subnet;
    this.#etcd = network.addHost("etcd");
    this.hosts = ["pg1", "pg2"].map((name) => network.addHost(name));
  }

  static async start(folder: string, network: TestNetwork): Promise<PatroniCluster> {
    const cluster = new PatroniCluster(folder, network);
    const { uid, gid } = postgresUser();
    chownSync(folder, uid, gid);
    cluster.#startEtcd();
    const [first, second] = cluster.hosts as [Host, Host];
    cluster.startNode(first);
    await cluster.#until((members) => members.some(isLeader));
    cluster.startNode(second);
    await cluster.ready();
    execFileSync("psql", [cluster.#libpqUrl("postgres"), "-qc", `create database ${DATABASE}`]);
    return cluster;
  }

  /** The address for front ends, which find the primary among the hosts. */
  get url(): string {
    const hosts = this.hosts.map(({ address }) => `${address}:5432`).join(",");
    return `postgres://postgres:${PASSWORD}@${hosts}/${DATABASE}`;
  }

  /** The host of the primary, according to Patroni. */
  async primary(): Promise<Host> {
    // A busy Patroni may be late to say so.
    await this.#until((members) => members.some(isLeader));
    const host = await this.primaryNow();
    return host ?? (await this.primary());
  }

  /** Null if there is none at the moment. */
  async primaryNow(): Promise<Host | null> {
    const leader = (await this.#members())?.find(isLeader);
    return this.hosts.find(({ name }) => name === leader?.name) ?? null;
  }

  /**
   * Resolves when there is a primary with a synchronous standby. A standby that does not find its
   * way back by itself is made anew, as an operator would do.
   */
  async ready(): Promise<void> {
    if (await this.#becomes(hasStandby, REJOIN_MS_MAX)) return;
    const primary = await this.primary();
    for (const host of this.hosts.filter(({ name }) => name !== primary.name)) {
      host.kill();
      rmSync(join(this.#folder, host.name, "data"), { recursive: true, force: true });
      this.startNode(host);
    }
    await this.#until(hasStandby);
  }

  /** Starts Patroni on a host, which starts PostgreSQL as its role demands. */
  startNode(host: Host): void {
    const folder = join(this.#folder, host.name);
    const { uid, gid } = postgresUser();
    mkdirSync(folder, { recursive: true });
    chownSync(folder, uid, gid);
    const file = join(folder, "patroni.yml");
    writeFileSync(file, this.#config(host, folder));
    const log = openSync(join(folder, "patroni.log"), "a");
    // Entering a namespace takes root; PostgreSQL refuses to run as root.
    const asPostgres = ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];
    const [program = "", ...args] = [...host.within, ...asPostgres, "patroni", file];
    spawn(program, args, { stdio: ["ignore", log, log] });
  }

  /** The members with their roles and timelines, in one line. */
  async members(): Promise<string> {
    const members = (await this.#members()) ?? [];
    if (members.length === 0) return "no Patroni answers";
    const lines = members.map(
      ({ name, role, state, timeline }) => `${name} ${role} ${state} timeline ${timeline ?? "?"}`,
    );
    return lines.sort().join(", ");
  }

  /** Runs a statement at the primary, and returns what it prints. */
  async query(statement: string): Promise<string> {
    const { stdout } = await run("psql", [this.#libpqUrl(DATABASE), "-Atc", statement]);
    return stdout.trim();
  }

  #libpqUrl(database: string): string {
    const hosts = this.hosts.map(({ address }) => `${address}:5432`).join(",");
    const parameters = "target_session_attrs=read-write&connect_timeout=3";
    return `postgres://postgres:${PASSWORD}@${hosts}/${database}?${parameters}`;
  }

  #startEtcd(): void {
    const { address, within } = this.#etcd;
    const folder = join(this.#folder, "etcd");
    const log = openSync(join(this.#folder, "etcd.log"), "a");
    const at = [
      ...["--listen-client-urls", `http://${address}:2379`],
      ...["--advertise-client-urls", `http://${address}:2379`],
      ...["--listen-peer-urls", `http://${address}:2380`, "--data-dir", folder],
    ];
    const [program = "", ...args] = [...within, "etcd", ...at];
    spawn(program, args, { stdio: ["ignore", log, log] });
  }

  #config({ name, address }: Host, folder: string): string {
    const access = ["all", "replication"].map(
      (what) => `    - host ${what} all ${this.#subnet} scram-sha-256`,
    );
    const bin = join("/usr/lib/postgresql", newestPostgres(), "bin");
    const user = (of: string) =>
      `    ${of}: { username: ${of === "superuser" ? "postgres" : of}, password: ${PASSWORD} }`;
    return `scope: lazuli
name: ${name}
restapi: { listen: "${address}:8008", connect_address: "${address}:8008" }
etcd3: { hosts: "${this.#etcd.address}:2379" }
bootstrap:
  dcs:
    ttl: ${LEADER_SECONDS}
    loop_wait: 2
    retry_timeout: 4
    synchronous_mode: true
    postgresql: { use_pg_rewind: true, parameters: { max_connections: 100, wal_keep_size: 2GB } }
  initdb: [ encoding: UTF8 ]
  pg_hba:
    - local all all trust
${access.join("\n")}
postgresql:
  listen: "${address}:5432"
  connect_address: "${address}:5432"
  data_dir: ${folder}/data
  bin_dir: ${bin}
  pgpass: ${folder}/pgpass
  remove_data_directory_on_rewind_failure: true
  remove_data_directory_on_diverged_timelines: true
  parameters: { unix_socket_directories: "${folder}" }
  authentication:
${["superuser", "replication", "rewind"].map(user).join("\n")}
`;
  }

  async #until(isReady: (members: readonly Member[]) => boolean): Promise<void> {
    if (await this.#becomes(isReady, READY_MS_MAX)) return;
    throw new Error(`Patroni is not ready: ${JSON.stringify(await this.#members())}`);
  }

  async #becomes(
    isReady: (members: readonly Member[]) => boolean,
    msMax: number,
  ): Promise<boolean> {
    for (const untilMs = Date.now() + msMax; Date.now() < untilMs; ) {
      const members = await this.#members();
      if (members !== null && isReady(members)) return true;
      await wait(ASK_AGAIN_MS);
    }
    return false;
  }

  /** Null if no host answers. */
  async #members(): Promise<readonly Member[] | null> {
    for (const { address } of this.hosts) {
      const signal = AbortSignal.timeout(2_000);
      const answer = await fetch(`http://${address}:8008/cluster`, { signal }).catch(() => null);
      const text = await answer?.text().catch(() => null);
      if (answer?.ok && text) return JSON.parse(text).members;
    }
    return null;
  }
}

const RUNNING = ["running", "streaming"];

function hasStandby(all: readonly Member[]): boolean {
  const standby = all.find(({ role }) => role === "sync_standby");
  return all.some(isLeader) && standby !== undefined && RUNNING.includes(standby.state);
}

function isLeader({ role, state }: Member): boolean {
  return role === "leader" && state === "running";
}

function postgresUser(): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

function newestPostgres(): string {
  const versions = readdirSync("/usr/lib/postgresql").map(Number).filter(Number.isInteger);
  return `${Math.max(...versions)}`;
}
