import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type BlockBlobClient,
  ContainerClient,
  ContainerSASPermissions,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { LazuliProcess } from "../command/process.ts";

const MIB = 1024 * 1024;
/**
 * Cgroups version 1: if the memory controller is mounted here, root can limit a process's memory.
 */
const CGROUPS = "/sys/fs/cgroup/memory";
const ACCOUNT = "devstoreaccount1";
/** The well-known key of that account. */
const KEY =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const SAS_MS = 3_600_000;

/** The real server in its own process, with a data folder that is removed with it. */
export class SoakServer {
  readonly port: number;
  /** Query string that permits everything on the container's blobs. */
  readonly #sas: string;
  readonly #container: ContainerClient;
  readonly #process: LazuliProcess;
  readonly #folder: string;
  readonly #cgroup: string | null;

  private constructor(
    lazuli: LazuliProcess,
    container: ContainerClient,
    sas: string,
    folder: string,
    cgroup: string | null,
  ) {
    this.#process = lazuli;
    this.#container = container;
    this.#sas = sas;
    this.#folder = folder;
    this.#cgroup = cgroup;
    this.port = Number(new URL(container.url).port);
  }

  /** Starts a server that the system kills above this memory, if root can arrange that. */
  static async start(memoryMib: number, flags: readonly string[] = []): Promise<SoakServer> {
    const folder = mkdtempSync(join(tmpdir(), "lazuli-soak-"));
    const lazuli = new LazuliProcess(["--location", folder, ...ANY_PORTS, ...flags]);
    const url = await lazuli.urlOf("Blob");
    const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
    const container = new ContainerClient(`${url}/soak`, credential);
    await container.create();
    const permissions = ContainerSASPermissions.parse("rcw");
    const expiresOn = new Date(Date.now() + SAS_MS);
    const sas = new URL(await container.generateSasUrl({ permissions, expiresOn })).search;
    const cgroup = limitMemory(lazuli.pid, memoryMib);
    if (cgroup === null) console.log(`not root, or no ${CGROUPS}: memory is measured, not limited`);
    return new SoakServer(lazuli, container, sas, folder, cgroup);
  }

  get rssMib(): number {
    return this.#status("VmRSS");
  }

  get peakMib(): number {
    return this.#status("VmHWM");
  }

  blob(name: string): BlockBlobClient {
    return this.#container.getBlockBlobClient(name);
  }

  /** The head of a request for a blob, as sent on the wire. */
  head(method: "GET" | "PUT", name: string, ...lines: readonly string[]): string {
    const target = `/${ACCOUNT}/soak/${name}${this.#sas}`;
    const all = [`${method} ${target} HTTP/1.1`, `Host: 127.0.0.1:${this.port}`, ...lines];
    return `${all.join("\r\n")}\r\n\r\n`;
  }

  /** SIGTERM; resolves with the exit code. */
  async end(): Promise<number | null> {
    this.#process.signal("SIGTERM");
    return (await this.#process.ended()).code;
  }

  async stop(): Promise<void> {
    await this.#process.kill();
    rmSync(this.#folder, { recursive: true, force: true });
    if (this.#cgroup !== null) rmdirSync(this.#cgroup);
  }

  #status(field: string): number {
    if (!this.#process.isRunning) throw new Error("the server was killed: it took too much memory");
    const text = readFileSync(`/proc/${this.#process.pid}/status`, "utf8");
    const kib = Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(text)?.[1]);
    return Math.round(kib / 1024);
  }
}

/** The folder of a new cgroup with this process in it; null if that is not possible. */
function limitMemory(pid: number, mib: number): string | null {
  const cgroup = join(CGROUPS, `lazuli-soak-${pid}`);
  try {
    mkdirSync(cgroup);
    writeFileSync(join(cgroup, "memory.limit_in_bytes"), String(mib * MIB));
    writeFileSync(join(cgroup, "cgroup.procs"), String(pid));
    return cgroup;
  } catch {
    return null;
  }
}
