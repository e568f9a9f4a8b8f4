import type { BodyDigests } from "../../../base/digests.ts";
import type { Digests } from "../../../store/contents.ts";

/** Since then a response has a CRC-64, and an MD5 instead if the request has one. */
const CRC64_SINCE = "2019-02-02";
/** Since then the response to a request with an MD5 has both. */
const BOTH_SINCE = "2026-10-06";

const CRC64_ALONE: Digests = { md5: false, crc64: true };
const MD5_ALONE: Digests = { md5: true, crc64: false };
const BOTH: Digests = { md5: true, crc64: true };

/** The digests to compute of a body: those that the client sent, and those for the response. */
export function digestsOfBody(version: string, { md5, crc64 }: BodyDigests): Digests {
  if (version < CRC64_SINCE) return crc64 === null ? MD5_ALONE : BOTH;
  return md5 === null ? CRC64_ALONE : withMd5(version);
}

/** The digests to compute of a source; null if the client sent none, so it need not be read. */
export function digestsOfSource(version: string, { md5, crc64 }: BodyDigests): Digests | null {
  if (md5 !== null) return withMd5(version);
  return crc64 === null ? null : CRC64_ALONE;
}

function withMd5(version: string): Digests {
  return version < BOTH_SINCE ? MD5_ALONE : BOTH;
}
