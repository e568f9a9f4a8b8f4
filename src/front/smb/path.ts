import { STATUS, StatusError } from "./nt-status.ts";

/** The names of a path below a share; none for the share's root. */
export function pathOf(name: string): string[] {
  if (name === "") return [];
  const names = name.split(/[\\/]/);
  if (names[0] === "") throw new StatusError(STATUS.INVALID_PARAMETER);
  if (names.includes(".") || names.includes("..")) {
    throw new StatusError(STATUS.OBJECT_PATH_SYNTAX_BAD);
  }
  if (names.includes("")) throw new StatusError(STATUS.OBJECT_NAME_INVALID);
  return names;
}
