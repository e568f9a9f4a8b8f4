import type { TestContext } from "node:test";
import { Machine } from "./machine.ts";

/** A machine that is closed with the test. */
export function machineFor(t: TestContext): Machine {
  const machine = new Machine();
  t.after(() => machine.close());
  return machine;
}
