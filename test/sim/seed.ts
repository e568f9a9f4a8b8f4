import { randomInt } from "node:crypto";

/** Of each client. The soak asks for more. */
export const OPERATIONS = Number(process.env.LAZULI_SIM_OPERATIONS ?? 80);
/** Give a seed to make the same choices again; what races against what is up to the machine. */
export const SEED = Number(process.env.LAZULI_SEED ?? randomInt(1_000_000));
