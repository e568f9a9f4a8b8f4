import type { FaultCode } from "../base/fault.ts";
import { foldCase } from "../base/fold-case.ts";
import { FILE_NAME_CHARS_MAX, FILE_PATH_CHARS_MAX, FILE_PATH_LEVELS_MAX } from "../base/limits.ts";

/** Devices, not files, to the systems that mount a share. */
const RESERVED = /^(LPT[1-9]|COM[1-9]|PRN|AUX|NUL|CON|CLOCK\$|\.{1,2})$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const FORBIDDEN = /[\u0000-\u001f"\\/:|<>*?\u007f-\u009f]|\p{Surrogate}/u;

/** The name of a file or directory, without those above it. Half a surrogate pair has no UTF-8. */
export function judgeFileName(name: string): FaultCode | null {
  if (name.length === 0) return "InvalidResourceName";
  if (name.length > FILE_NAME_CHARS_MAX) return "InvalidFileOrDirectoryPathName";
  if (FORBIDDEN.test(name) || RESERVED.test(foldCase(name))) return "InvalidResourceName";
  return null;
}

/** A path below the root of a share, which is the path of no names. */
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

/** What the store finds a name by: names that differ only in case are one. */
export function fileNameKey(name: string): string {
  return foldCase(name);
}

/** Who does not ask for them does not get the dots at the end of a name; `.` and `..` stay names. */
export function withoutTrailingDots(name: string): string {
  if (name === "." || name === "..") return name;
  let end = name.length;
  while (name.charCodeAt(end - 1) === 0x2e) end--;
  return name.slice(0, end);
}
