import { hostname } from "node:os";
import { pid } from "node:process";
import { key, SPACE } from "../base/keys.ts";
import { type PostgresAddress, readAddress } from "../engine/postgres/address.ts";
import { UsageError } from "./start-error.ts";

/** The record that a restore has while it is not complete: the name of its backup. */
export const RESTORE_KEY = key(SPACE.engine, "restore");

/** Records and bytes that several front ends share. Each is chosen by itself. */
export interface SharedPlace {
  /** A `postgres://` URL. */
  readonly records: string;
  /** A folder that all front ends see, or a bucket. */
  readonly bytes: string;
}

/** Checks the URL of `--records`. Throws a `UsageError` without the password. */
export function readRecordsAddress(records: string): PostgresAddress {
  try {
    return readAddress(records);
  } catch (error) {
    throw new UsageError(`--records cannot be used: ${(error as Error).message}.`);
  }
}

/** The name of this process, for people who look at all front ends. */
export function thisProcess(): string {
  return `${hostname()}, process ${pid}`;
}
