import type { Stamp } from "../../../base/stamp.ts";

/** How clients name one of the deleted containers of a name: 16 hexadecimal digits. */
export function deletedVersionText(version: Stamp): string {
  return version.toString(16).toUpperCase().padStart(16, "0");
}

/** To clients it is opaque: what we have never written names nothing. */
export function deletedVersionOf(text: string): Stamp {
  return /^[0-9A-F]{16}$/i.test(text) ? BigInt(`0x${text}`) : 0n;
}
