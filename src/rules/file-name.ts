import type { FaultCode } from "../base/fault.ts";
import { foldCase } from "../base/fold-case.ts";
import { FILE_NAME_CHARS_MAX, FILE_PATH_CHARS_MAX, FILE_PATH_LEVELS_MAX } from "../base/limits.ts";

/** Names of devices on the systems that mount a share. */
const RESERVED = /^(LPT[1-9]|COM[1-9]|PRN|AUX|NUL|CON|CLOCK\$|\.{1,2})$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const FORBIDDEN = /[\u0000-\u001f"\\/:|<>*?\u007f-\u009f]|\p{Surrogate}/u;

/** The name of a file or directory, without its parents. Half a surrogate pair has no UTF-8. */
export function judgeFileName(name: string): FaultCode | null {
  if (name.length === 0) return "InvalidResourceName";
  if (name.length > FILE_NAME_CHARS_MAX) return "InvalidFileOrDirectoryPathName";
  if (FORBIDDEN.test(name) || RESERVED.test(foldCase(name))) return "InvalidResourceName";
  return null;
}

/** A path below the root of a share. The root's own path is empty. */
export function judgeFilePath(names: readonly string[]): FaultCode | null {
  if (names.length > FILE_PATH_LEVELS_MAX) return "InvalidFileOrDirectoryPathName";
  let chars = names.length - 1;
  for (const name of names) chars += name.length;
  if (chars > FILE_PATH_CHARS_MAX) return "InvalidFileOrDirectoryPathName";
  for (const name of names) {
    const refused = judgeFileName(name);
    if (refused !== null) return refused;
  }
  return null;
}

/** The key of a name in the store: names that differ only in case have the same key. */
export function fileNameKey(name: string): string {
  return foldCase(name);
}

/** Removes trailing dots, except from `.` and `..`. Used unless a client asks for such names. */
export function withoutTrailingDots(name: string): string {
  if (name === "." || name === "..") return name;
  let end = name.length;
  while (name.charCodeAt(end - 1) === 0x2e) end--;
  return name.slice(0, end);
}
