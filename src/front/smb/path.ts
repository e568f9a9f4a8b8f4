import { STATUS, StatusError } from "./nt-status.ts";

/** The names of a path below a share; none for the share's root. */
export function pathOf(name: string): string[] {
  if (name === "") return [];
  const names = name.split("\\");
  // A name that begins or ends with the separator, or has it twice, names nothing.
  if (names.some((one) => one === "" || one === "." || one === "..")) {
    throw new StatusError(STATUS.OBJECT_NAME_INVALID);
  }
  return names;
}
