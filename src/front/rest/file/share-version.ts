import type { Stamp } from "../../../base/stamp.ts";

/** Formats the version of a deleted share: 16 hexadecimal digits. */
export function shareVersionText(version: Stamp): string {
  return version.toString(16).toUpperCase().padStart(16, "0");
}

/** Parses a share version; null if it is malformed. */
export function shareVersionOf(text: string): Stamp | null {
  return /^[0-9A-F]{16}$/i.test(text) ? BigInt(`0x${text}`) : null;
}
