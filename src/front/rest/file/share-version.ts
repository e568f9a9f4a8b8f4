import type { Stamp } from "../../../base/stamp.ts";

/** The version of a deleted share, as clients see it: 16 hexadecimal digits. */
export function shareVersionText(version: Stamp): string {
  return version.toString(16).toUpperCase().padStart(16, "0");
}

/** Null if it is none of ours. */
export function shareVersionOf(text: string): Stamp | null {
  return /^[0-9A-F]{16}$/i.test(text) ? BigInt(`0x${text}`) : null;
}
