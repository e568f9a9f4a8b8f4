import type { Reading } from "./reading.ts";
import { RoundRobin } from "./round-robin.ts";
import type { Bench } from "./row.ts";
import type { Target } from "./server.ts";

/** Measures something and its counterpart in the Blob service, alternating on one server. */
export async function besideBlob(
  target: Target,
  bench: Bench,
  runBlob: (bench: Bench) => Promise<Reading>,
  run: (bench: Bench) => Promise<Reading>,
): Promise<Reading> {
  const slots = new RoundRobin();
  const both = { ...bench, load: bench.load.in(slots) };
  const [blob, reading] = await Promise.all([
    slots.run(target.pid, () => runBlob(both)),
    slots.run(target.pid, () => run(both)),
  ]);
  return { ...reading, blob };
}
