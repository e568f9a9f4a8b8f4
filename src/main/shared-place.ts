import { type PostgresAddress, readAddress } from "../engine/postgres/address.ts";
import { UsageError } from "./start-error.ts";

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
