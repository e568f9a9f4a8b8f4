import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AllServices } from "./all-services.ts";
import { startWholeProcess, type WholeServerProcess } from "./server-process.ts";

export interface Kills {
  readonly kills: number;
  readonly acknowledged: number;
  /** One line for each write that was lost or half done. The first loss ends the run. */
  readonly lost: readonly string[];
  /** The output of servers that did not start. */
  readonly failedStarts: readonly string[];
}

/** Kills the server while clients of all services write, starts it again, and compares. */
export async function killAll(rounds: number, tell: (line: string) => void): Promise<Kills> {
  const location = await mkdtemp(join(tmpdir(), "lazuli-kills-"));
  const clients = new AllServices();
  const lost: string[] = [];
  const failedStarts: string[] = [];
  let running: WholeServerProcess | null = null;
  let kills = 0;
  try {
    for (;;) {
      const server = await startWholeProcess(location).catch((error) => {
        failedStarts.push(String(error));
        return null;
      });
      running = server;
      if (server === null) break;
      if (kills === 0) await clients.prepare(server);
      lost.push(...(await clients.check(server)));
      if (kills === rounds || lost.length > 0) break;
      await clients.writeUntil(() => server.kill(), server);
      kills++;
      tell(`${kills} kills, ${clients.acknowledged} writes acknowledged`);
    }
  } finally {
    await running?.kill();
    await rm(location, { recursive: true, force: true });
  }
  return { kills, acknowledged: clients.acknowledged, lost, failedStarts };
}
