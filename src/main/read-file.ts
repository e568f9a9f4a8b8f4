import { readFileSync } from "node:fs";
import type { Bytes } from "../base/bytes.ts";
import { StartError } from "./start-error.ts";

/** Reads a file that the user named. Throws a `StartError`. */
export function readFile(file: string): Bytes {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new StartError(`${file} cannot be read (${(error as Error).message}). Check the path.`);
  }
}
