import type { Bytes } from "./bytes.ts";
import { Fault } from "./fault.ts";

/** Digests of some bytes; null where a digest was not given or not computed. */
export interface BodyDigests {
  readonly md5: Bytes | null;
  readonly crc64: Bytes | null;
}

export const NO_DIGESTS: BodyDigests = { md5: null, crc64: null };

/** The digests to compute in order to check those of a client; null if it gave none. */
export function digestsToTake({
  md5,
  crc64,
}: BodyDigests): { md5: boolean; crc64: boolean } | null {
  return md5 === null && crc64 === null ? null : { md5: md5 !== null, crc64: crc64 !== null };
}

/** Throws if the computed digests differ from those that the client sent. */
export function requireDigests(wanted: BodyDigests, taken: BodyDigests): void {
  if (wanted.md5 !== null && taken.md5 !== null && !wanted.md5.equals(taken.md5)) {
    throw new Fault("Md5Mismatch", {
      UserSpecifiedMd5: wanted.md5.toString("base64"),
      ServerCalculatedMd5: taken.md5.toString("base64"),
    });
  }
  if (wanted.crc64 !== null && taken.crc64 !== null && !wanted.crc64.equals(taken.crc64)) {
    throw new Fault("Crc64Mismatch", {
      UserSpecifiedCrc: wanted.crc64.toString("base64"),
      ServerCalculatedCrc: taken.crc64.toString("base64"),
    });
  }
}
