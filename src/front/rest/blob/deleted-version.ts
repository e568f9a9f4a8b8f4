import type { Stamp } from "../../../base/stamp.ts";

/** Formats the version that identifies a deleted container, as 16 hexadecimal digits. */
export function deletedVersionText(version: Stamp): string {
  return version.toString(16).toUpperCase().padStart(16, "0");
}

/** Invalid text becomes 0, which no container has, because the version is opaque to clients. */
export function deletedVersionOf(text: string): Stamp {
  return /^[0-9A-F]{16}$/i.test(text) ? BigInt(`0x${text}`) : 0n;
}
