import { rmSync } from "node:fs";
import { RoundRobin } from "./round-robin.ts";
import type { Bench } from "./row.ts";
import type { Target } from "./server.ts";

/** A measurement with few objects and with many. */
export interface FewAndMany<T> {
  readonly few: number;
  readonly many: number;
  fill(target: Target, count: number): Promise<void>;
  measure(target: Target, count: number, bench: Bench): Promise<T>;
}

/**
 * Measures a server with few objects and one with many, alternating. Both restart after filling:
 * recent writes stay in memory, which would favour the few.
 */
export async function fewAndMany<T>(
  bench: Bench,
  { few, many, fill, measure }: FewAndMany<T>,
): Promise<{ readonly few: T; readonly many: T }> {
  const { servers } = bench;
  const slots = new RoundRobin();
  const alternating = { ...bench, load: bench.load.in(slots) };
  const folders = [servers.newFolder(), servers.newFolder()] as const;
  const run = (folder: string, count: number) =>
    servers.withFolder("lazuli", folder, (target) =>
      slots.run(target.pid, () => measure(target, count, alternating)),
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
