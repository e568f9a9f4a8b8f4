import { randomInt } from "node:crypto";

/** A given seed repeats the same choices; the timing of races depends on the machine. */
export const SEED = Number(process.env.LAZULI_SEED ?? randomInt(1_000_000));

/** Of each client; the soak sets more. */
export function operationsOr(usual: number): number {
  return Number(process.env.LAZULI_SIM_OPERATIONS ?? usual);
}
