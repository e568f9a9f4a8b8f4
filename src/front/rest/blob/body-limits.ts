import { MIB } from "../../../base/limits.ts";

/** Limits grew with the versions of the protocol, which sort as text. */
export function putBlobBytesMax(version: string): number {
  if (version >= "2019-12-12") return 5_000 * MIB;
  return version >= "2016-05-31" ? 256 * MIB : 64 * MIB;
}

export function putBlockBytesMax(version: string): number {
  if (version >= "2019-12-12") return 4_000 * MIB;
  return version >= "2016-05-31" ? 100 * MIB : 4 * MIB;
}

export function appendBlockBytesMax(version: string): number {
  return version >= "2022-11-02" ? 100 * MIB : 4 * MIB;
}
