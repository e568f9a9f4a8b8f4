import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Connection } from "../../bench/connection.ts";
import { type Request, signed } from "../../bench/shared-key.ts";
import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { LazuliProcess } from "../command/process.ts";

const PRELOAD = fileURLToPath(new URL("./loop-gaps.js", import.meta.url));

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** The real server in its own process, which measures the gaps of its event loop. */
export class StalledServer {
  readonly ports: Readonly<Record<"blob" | "queue" | "table" | "file" | "smb", number>>;
  readonly #process: LazuliProcess;
  readonly #gapsPort: number;
  readonly #folder: string;

  private constructor(
    process: LazuliProcess,
    folder: string,
    gapsPort: number,
    ports: StalledServer["ports"],
  ) {
    this.#process = process;
    this.#folder = folder;
    this.#gapsPort = gapsPort;
    this.ports = ports;
  }

  static async start(): Promise<StalledServer> {
    const folder = await mkdtemp(join(tmpdir(), "lazuli-stalls-"));
    const env = { NODE_OPTIONS: `--import=${PRELOAD}` };
    const lazuli = new LazuliProcess(["--location", folder, ...ANY_PORTS], env);
    const gapsPort = Number(await lazuli.printed(/^Gaps at port (\d+)$/m));
    const portOf = async (name: "Blob" | "Queue" | "Table" | "File") =>
      Number(new URL(await lazuli.urlOf(name)).port);
    return new StalledServer(lazuli, folder, gapsPort, {
      blob: await portOf("Blob"),
      queue: await portOf("Queue"),
      table: await portOf("Table"),
      file: await portOf("File"),
      smb: Number(await lazuli.printed(/^SMB service .*:(\d+)$/m)),
    });
  }

  async stop(): Promise<void> {
    this.#process.signal("SIGTERM");
    await this.#process.ended();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** The longest gap since the last call, in milliseconds of CPU. */
  async longestGapMs(): Promise<number> {
    return Number(await text(connect(this.#gapsPort, "127.0.0.1")));
  }

  /**
   * Sends requests over this many connections at a time. A refusal ends the run, unless it is
   * expected.
   */
  async sendAll(
    port: number,
    requests: Iterable<Buffer>,
    connections: number,
    mayRefuse = false,
  ): Promise<void> {
    const next = requests[Symbol.iterator]();
    const worker = async () => {
      const connection = await Connection.open(port);
      for (let one = next.next(); one.done !== true; one = next.next()) {
        const { status, text } = await connection.exchange(one.value);
        if (status >= 500 || (status >= 400 && !mayRefuse)) {
          throw new Error(`${status} for ${one.value.subarray(0, 120)}: ${text.slice(0, 500)}`);
        }
      }
      connection.close();
    };
    await Promise.all(Array.from({ length: connections }, worker));
  }

  async send(port: number, request: Request): Promise<Answer> {
    const connection = await Connection.open(port);
    const answer = await connection.exchange(signed(port, request), true);
    connection.close();
    return answer;
  }
}
