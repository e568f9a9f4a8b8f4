import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import type { ServerProcess } from "./server-process.ts";

/** One round ends after at most this many writes. */
const ACKNOWLEDGED_BEFORE_KILL_MAX = 80;

/**
 * Kills the server at some moment among the writes. Resolves to the number of acknowledged writes,
 * once the server is gone and the writers have noticed.
 */
export async function writeUntilKilled(
  server: Pick<ServerProcess, "kill">,
  writers: readonly ((acknowledge: () => void) => Promise<void>)[],
): Promise<number> {
  const killAfter = randomInt(1, ACKNOWLEDGED_BEFORE_KILL_MAX);
  let acknowledged = 0;
  let killed: Promise<void> | null = null;
  const acknowledge = () => {
    acknowledged++;
    if (acknowledged >= killAfter) killed ??= server.kill();
  };
  await Promise.all(writers.map((write) => write(acknowledge)));
  assert.ok(killed !== null, "the server ended before it was killed");
  await killed;
  return acknowledged;
}
