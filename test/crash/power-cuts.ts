import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AllServices } from "./all-services.ts";
import { isUnansweredOrFailed } from "./outage.ts";
import { PowerDisk } from "./power-disk.ts";
import { startWholeProcess, type WholeServerProcess } from "./server-process.ts";

export interface PowerCuts {
  readonly cuts: number;
  readonly acknowledged: number;
  /** One line for each write that was lost or half done. The first loss ends the run. */
  readonly lost: readonly string[];
  /** The output of servers that did not start. */
  readonly failedStarts: readonly string[];
}

export interface PowerCutsAsked {
  readonly cuts: number;
  /** Seed of the first cut; each later cut has the next number. */
  readonly seed: number;
  /** Whether syncs of the disk work. If not, acknowledged writes must be lost. */
  readonly syncs: "honest" | "ignored";
  /** Ends the run, which then throws. */
  readonly stop?: AbortSignal;
  readonly tell: (line: string) => void;
}

/**
 * Cuts the power of a server's disk while clients of all services write, starts the server on what
 * is left, and compares that with the acknowledged writes; repeatedly on the same disk.
 */
export async function cutPower(asked: PowerCutsAsked): Promise<PowerCuts> {
  const { cuts, seed, syncs, stop, tell } = asked;
  const folder = await mkdtemp(join(tmpdir(), "lazuli-power-"));
  const disk = await PowerDisk.make(folder);
  const clients = new AllServices();
  const lost: string[] = [];
  const failedStarts: string[] = [];
  let running: WholeServerProcess | null = null;
  let done = 0;
  try {
    for (;;) {
      stop?.throwIfAborted();
      await disk.powerOn();
      const server = await startOn(disk, failedStarts);
      running = server;
      if (server === null) break;
      if (done === 0) await clients.prepare(server);
      const missing = await clients.check(server);
      stop?.throwIfAborted();
      lost.push(...missing);
      if (done === cuts || lost.length > 0) break;
      if (syncs === "ignored") await disk.lie();
      const crash = async () => {
        tell(`seed ${seed + done}: ${await disk.cut(seed + done)}`);
        await server.kill();
      };
      await clients.writeUntil(crash, server, isUnansweredOrFailed);
      await disk.powerOff();
      done++;
    }
  } finally {
    await running?.kill();
    await disk.powerOff();
    await rm(folder, { recursive: true, force: true });
  }
  return { cuts: done, acknowledged: clients.acknowledged, lost, failedStarts };
}

async function startOn(
  disk: PowerDisk,
  failedStarts: string[],
): Promise<WholeServerProcess | null> {
  try {
    return await startWholeProcess(join(disk.mountPoint, "data"));
  } catch (error) {
    failedStarts.push(String(error));
    return null;
  }
}
