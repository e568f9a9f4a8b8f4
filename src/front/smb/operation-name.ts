import { UNKNOWN_OPERATION } from "../outcome.ts";
import { COMMAND } from "./codec/header.ts";

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(COMMAND).map(([name, command]) => [
    command,
    name.charAt(0).toUpperCase() + name.slice(1),
  ]),
);

/** `Create`, of its number, as logs and metrics write it. */
export function operationName(command: number): string {
  return NAMES.get(command) ?? UNKNOWN_OPERATION;
}
