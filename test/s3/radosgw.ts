import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
// tidy-allow sleep: only asking tells when a daemon is ready
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { freePorts } from "../command/free-ports.ts";

const execFileAsync = promisify(execFile);

/** Far more than any step needs: it ends a start that hangs. */
const STEP_MS_MAX = 3 * 60_000;
const LOOK_AGAIN_MS = 100;
/** Test servers have a bucket each; without a limit of its own, a user may have 1,000. */
const BUCKETS_MAX = 100_000;

/** Runs a program until standard input ends: also if the tests are killed. */
const GUARD = '"$@" & trap "kill -9 $!" EXIT; read -r line';

const KEY = { accessKeyId: "LAZULITESTS", secretAccessKey: "a-key-for-tests-only" };

/** A Ceph cluster of one monitor and some OSDs, with its S3 server. */
export interface Radosgw {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Ends the S3 server at once. */
  killGateway(): Promise<void>;
  /** Starts it again, and resolves when it answers. */
  startGateway(): Promise<void>;
  /** Ends an OSD at once, numbered from 0. What it has stored stays. */
  killOsd(osd: number): Promise<void>;
  startOsd(osd: number): void;
  /** How many OSDs the monitor takes for alive. */
  osdsUp(): Promise<number>;
  stop(): Promise<void>;
}

export interface RadosgwOptions {
  /** The address at which everything listens; by default that of loopback. */
  readonly host?: string;
  /** OSDs, each of which has a copy of everything. A single one keeps its data in memory. */
  readonly osds?: number;
}

/** Starts the cluster on free ports, in a folder of its own. */
export async function startRadosgw(options: RadosgwOptions = {}): Promise<Radosgw> {
  const { host = "127.0.0.1", osds = 1 } = options;
  const folder = await mkdtemp(join(tmpdir(), "lazuli-ceph-"));
  const [monPort, rgwPort] = (await freePorts(2)) as [number, number];
  const cluster = new CephCluster({ folder, host, osds, monPort, rgwPort, fsid: randomUUID() });
  try {
    await cluster.start();
    return cluster;
  } catch (error) {
    const log = await readFile(join(folder, "client.admin.log"), "utf8").catch(() => "");
    await cluster.stop();
    throw new Error(`radosgw did not start: ${log.slice(-2_000)}`, { cause: error });
  }
}

interface CephSetup {
  readonly folder: string;
  readonly host: string;
  readonly osds: number;
  readonly monPort: number;
  readonly rgwPort: number;
  readonly fsid: string;
}

const GATEWAY = "radosgw";

class CephCluster implements Radosgw {
  readonly accessKeyId = KEY.accessKeyId;
  readonly secretAccessKey = KEY.secretAccessKey;
  readonly #setup: CephSetup;
  readonly #config: string;
  /** By name, in the order of their start. */
  readonly #daemons = new Map<string, ChildProcess>();

  constructor(setup: CephSetup) {
    this.#setup = setup;
    this.#config = join(setup.folder, "ceph.conf");
  }

  get endpoint(): string {
    return `http://${this.#setup.host}:${this.#setup.rgwPort}`;
  }

  async start(): Promise<void> {
    const { folder, host, osds, fsid, monPort } = this.#setup;
    const ceph = (...args: string[]) => run("ceph", "-c", this.#config, ...args);
    for (const name of ["mon", "rgw"]) await mkdir(join(folder, name));
    await writeFile(join(folder, "keyring"), "");
    await writeFile(this.#config, configText(this.#setup));
    const map = join(folder, "monmap");
    run("monmaptool", "--create", "--fsid", fsid, "--addv", "a", `[v2:${host}:${monPort}]`, map);
    run("ceph-mon", "-c", this.#config, "-i", "a", "--mkfs", "--monmap", map);
    this.#run("mon", "ceph-mon", "-i", "a");
    ceph("osd", "crush", "add-bucket", "here", "host");
    ceph("osd", "crush", "move", "here", "root=default");
    for (let osd = 0; osd < osds; osd++) {
      const id = randomUUID();
      await mkdir(join(folder, `osd-${osd}`));
      ceph("osd", "new", id, `${osd}`);
      ceph("osd", "crush", "add", `osd.${osd}`, "1.0", "host=here");
      run("ceph-osd", "-c", this.#config, "-i", `${osd}`, "--mkfs", "--osd-uuid", id);
      this.startOsd(osd);
    }
    await this.startGateway();
    const keys = ["--access-key", KEY.accessKeyId, "--secret-key", KEY.secretAccessKey];
    const limits = ["--max-buckets", `${BUCKETS_MAX}`];
    const user = ["--uid", "lazuli", "--display-name", "lazuli", ...limits, ...keys];
    run("radosgw-admin", "-c", this.#config, "user", "create", ...user);
  }

  startOsd(osd: number): void {
    this.#run(`osd.${osd}`, "ceph-osd", "-i", `${osd}`);
  }

  async startGateway(): Promise<void> {
    this.#run(GATEWAY, "radosgw", "-n", "client.admin");
    await answers(`${this.endpoint}/`);
  }

  killOsd(osd: number): Promise<void> {
    return this.#kill(`osd.${osd}`);
  }

  async osdsUp(): Promise<number> {
    const { stdout } = await execFileAsync("ceph", [
      "-c",
      this.#config,
      "osd",
      "stat",
      "-f",
      "json",
    ]);
    return JSON.parse(stdout).num_up_osds;
  }

  killGateway(): Promise<void> {
    return this.#kill(GATEWAY);
  }

  async stop(): Promise<void> {
    for (const name of [...this.#daemons.keys()].reverse()) await this.#kill(name);
    await rm(this.#setup.folder, { recursive: true, force: true });
  }

  #run(name: string, program: string, ...args: string[]): void {
    const all = ["-c", GUARD, "sh", program, "-c", this.#config, "-f", ...args];
    const { folder: cwd } = this.#setup;
    const daemon = spawn("sh", all, { cwd, stdio: ["pipe", "ignore", "ignore"] });
    this.#daemons.set(name, daemon);
  }

  /** The guard kills it, without a clean end. */
  async #kill(name: string): Promise<void> {
    const daemon = this.#daemons.get(name);
    this.#daemons.delete(name);
    if (daemon === undefined || daemon.exitCode !== null || daemon.signalCode !== null) return;
    const exit = new Promise((resolve) => daemon.once("exit", resolve));
    daemon.stdin?.end();
    await exit;
  }
}

/** A single OSD in memory is faster; several are there to be killed, and keep what they stored. */
function configText({ folder, fsid, host, osds, monPort, rgwPort }: CephSetup): string {
  const stored =
    osds === 1
      ? "osd objectstore = memstore\nmemstore device bytes = 4294967296"
      : "osd objectstore = bluestore\nbluestore block size = 4294967296\n" +
        "osd memory target = 939524096\nosd heartbeat interval = 1\nosd heartbeat grace = 5\n" +
        "mon osd min down reporters = 1\nosd max markdown count = 1000000";
  return `[global]
fsid = ${fsid}
mon host = [v2:${host}:${monPort}]
mon initial members = a
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc
ms bind ipv6 = false
public network = ${host}/32
osd pool default size = ${osds}
osd pool default min size = ${Math.max(1, osds - 1)}
osd pool default pg num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
${stored}
mon allow pool size one = true
mon data avail warn = 1
mon data avail crit = 1
run dir = ${folder}
keyring = ${folder}/keyring
mon data = ${folder}/mon
osd data = ${folder}/osd-$id
rgw data = ${folder}/rgw
admin socket = ${folder}/$name.asok
pid file = ${folder}/$name.pid
log file = ${folder}/$name.log
log to stderr = false
mon cluster log file = ${folder}/cluster.log
rgw frontends = beast endpoint=${host}:${rgwPort} tcp_nodelay=1
rgw thread pool size = 64
rgw gc obj min wait = 1
rgw gc processor period = 3
rgw gc processor max time = 3
`;
}

function run(program: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(program, args, { timeout: STEP_MS_MAX, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed: ${stderr}`);
}

/** Resolves when a server answers at this URL. */
async function answers(url: string): Promise<void> {
  for (const untilMs = Date.now() + STEP_MS_MAX; ; ) {
    const answer = await fetch(url).catch(() => null);
    if (answer !== null) return;
    if (Date.now() > untilMs) throw new Error(`${url} does not answer`);
    await wait(LOOK_AGAIN_MS);
  }
}
