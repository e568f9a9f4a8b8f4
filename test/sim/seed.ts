import { randomInt } from "node:crypto";

/** Give a seed to make the same choices again; what races against what is up to the machine. */
export const SEED = Number(process.env.LAZULI_SEED ?? randomInt(1_000_000));

/** Of each client; the soak asks for more. */
export function operationsOr(usual: number): number {
  return Number(process.env.LAZULI_SIM_OPERATIONS ?? usual);
}
