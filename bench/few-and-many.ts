import { rmSync } from "node:fs";
import type { Bench } from "./row.ts";
import type { Target } from "./server.ts";
import { Turns } from "./turns.ts";

/** What is measured with few objects and with many. */
export interface FewAndMany<T> {
  readonly few: number;
  readonly many: number;
  fill(target: Target, count: number): Promise<void>;
  measure(target: Target, count: number, bench: Bench): Promise<T>;
}

/**
 * Measures a server with few objects and one with many in turn. Both start anew after they were
 * filled: what was written last would be in memory, and that is more of the few than of the many.
 */
export async function fewAndMany<T>(
  bench: Bench,
  { few, many, fill, measure }: FewAndMany<T>,
): Promise<{ readonly few: T; readonly many: T }> {
  const { servers } = bench;
  const turns = new Turns();
  const inTurn = { ...bench, load: bench.load.takingTurns(turns) };
  const folders = [servers.newFolder(), servers.newFolder()] as const;
  const run = (folder: string, count: number) =>
    servers.withFolder("lazuli", folder, (target) =>
      turns.run(target.pid, () => measure(target, count, inTurn)),
    );
  try {
    await servers.withFolder("lazuli", folders[0], (target) => fill(target, few));
    await servers.withFolder("lazuli", folders[1], (target) => fill(target, many));
    const [ofFew, ofMany] = await Promise.all([run(folders[0], few), run(folders[1], many)]);
    return { few: ofFew, many: ofMany };
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}
