import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
// tidy-allow sleep: only asking tells when a daemon is ready
import { setTimeout as wait } from "node:timers/promises";
import { freePorts } from "./free-ports.ts";

/** Far more than any step needs: it ends a start that hangs. */
const STEP_MS_MAX = 3 * 60_000;
const LOOK_AGAIN_MS = 100;

/** Runs a program until standard input ends: also if the tests are killed. */
const GUARD = '"$@" & trap "kill -9 $!" EXIT; read -r line';

const KEY = { accessKeyId: "LAZULITESTS", secretAccessKey: "a-key-for-tests-only" };

/** A Ceph cluster of one monitor and one OSD in memory, with its S3 server. */
export interface Radosgw {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  stop(): Promise<void>;
}

/** Starts the cluster on free ports of loopback, in a folder of its own. */
export async function startRadosgw(): Promise<Radosgw> {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-ceph-"));
  const daemons: ChildProcess[] = [];
  const stop = async () => {
    for (const daemon of daemons.reverse()) await ended(daemon);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const [monPort, rgwPort] = (await freePorts(2)) as [number, number];
    await startDaemons(folder, monPort, rgwPort, (daemon) => daemons.push(daemon));
    return { endpoint: `http://127.0.0.1:${rgwPort}`, ...KEY, stop };
  } catch (error) {
    const log = await readFile(join(folder, "client.admin.log"), "utf8").catch(() => "");
    await stop();
    throw new Error(`radosgw did not start: ${log.slice(-2_000)}`, { cause: error });
  }
}

async function startDaemons(
  folder: string,
  monPort: number,
  rgwPort: number,
  onDaemon: (daemon: ChildProcess) => void,
): Promise<void> {
  const fsid = randomUUID();
  const config = join(folder, "ceph.conf");
  for (const name of ["mon", "osd", "rgw"]) await mkdir(join(folder, name));
  await writeFile(join(folder, "keyring"), "");
  await writeFile(config, configText(folder, fsid, monPort, rgwPort));
  const start = (program: string, ...args: string[]) => {
    const all = ["-c", GUARD, "sh", program, "-c", config, "-f", ...args];
    onDaemon(spawn("sh", all, { cwd: folder, stdio: ["pipe", "ignore", "ignore"] }));
  };
  const ceph = (...args: string[]) => run("ceph", "-c", config, ...args);

  const map = join(folder, "monmap");
  run("monmaptool", "--create", "--fsid", fsid, "--addv", "a", `[v2:127.0.0.1:${monPort}]`, map);
  run("ceph-mon", "-c", config, "-i", "a", "--mkfs", "--monmap", map);
  start("ceph-mon", "-i", "a");
  const osd = randomUUID();
  ceph("osd", "new", osd, "0");
  ceph("osd", "crush", "add-bucket", "here", "host");
  ceph("osd", "crush", "move", "here", "root=default");
  ceph("osd", "crush", "add", "osd.0", "1.0", "host=here");
  run("ceph-osd", "-c", config, "-i", "0", "--mkfs", "--osd-uuid", osd);
  start("ceph-osd", "-i", "0");
  start("radosgw", "-n", "client.admin");
  await answers(`http://127.0.0.1:${rgwPort}/`);
  const keys = ["--access-key", KEY.accessKeyId, "--secret-key", KEY.secretAccessKey];
  const user = ["--uid", "lazuli", "--display-name", "lazuli", ...keys];
  run("radosgw-admin", "-c", config, "user", "create", ...user);
}

function configText(folder: string, fsid: string, monPort: number, rgwPort: number): string {
  return `[global]
fsid = ${fsid}
mon host = [v2:127.0.0.1:${monPort}]
mon initial members = a
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc
ms bind ipv6 = false
public network = 127.0.0.0/8
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 4294967296
mon allow pool size one = true
mon data avail warn = 1
mon data avail crit = 1
run dir = ${folder}
keyring = ${folder}/keyring
mon data = ${folder}/mon
osd data = ${folder}/osd
rgw data = ${folder}/rgw
admin socket = ${folder}/$name.asok
pid file = ${folder}/$name.pid
log file = ${folder}/$name.log
log to stderr = false
mon cluster log file = ${folder}/cluster.log
rgw frontends = beast endpoint=127.0.0.1:${rgwPort} tcp_nodelay=1
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

/** Nothing of the cluster is needed any more, so its daemons need no clean end. */
async function ended(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const exit = new Promise((resolve) => daemon.once("exit", resolve));
  daemon.stdin?.end();
  await exit;
}
