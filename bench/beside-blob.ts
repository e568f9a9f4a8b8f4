import type { Bench, Reading } from "./row.ts";
import type { Target } from "./server.ts";
import { Turns } from "./turns.ts";

/** Measures something, and what matches it in the Blob service, in turn on one server. */
export async function besideBlob(
  target: Target,
  bench: Bench,
  runBlob: (bench: Bench) => Promise<Reading>,
  run: (bench: Bench) => Promise<Reading>,
): Promise<Reading> {
  const turns = new Turns();
  const both = { ...bench, load: bench.load.takingTurns(turns) };
  const [blob, reading] = await Promise.all([
    turns.run(target.pid, () => runBlob(both)),
    turns.run(target.pid, () => run(both)),
  ]);
  return { ...reading, blob };
}
