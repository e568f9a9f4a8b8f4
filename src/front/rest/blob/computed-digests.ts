import type { BodyDigests } from "../../../base/digests.ts";
import type { Digests } from "../../../store/contents.ts";

/** Since then an answer has a CRC-64, and an MD5 only if the request has one. */
const CRC64_SINCE = "2019-02-02";
/** Since then a request with an MD5 is answered with both. */
const BOTH_SINCE = "2026-10-06";

const CRC64_ALONE: Digests = { md5: false, crc64: true };
const MD5_ALONE: Digests = { md5: true, crc64: false };
const BOTH: Digests = { md5: true, crc64: true };

/** What is computed of a body: digests that the client sent, to check them, and those of the answer. */
export function digestsOfBody(version: string, { md5, crc64 }: BodyDigests): Digests {
  if (version < CRC64_SINCE) return crc64 === null ? MD5_ALONE : BOTH;
  return md5 === null ? CRC64_ALONE : withMd5(version);
}

/** The same of bytes from a source, which need not be read if the client sent no digest. */
export function digestsOfSource(version: string, { md5, crc64 }: BodyDigests): Digests | null {
  if (md5 !== null) return withMd5(version);
  return crc64 === null ? null : CRC64_ALONE;
}

function withMd5(version: string): Digests {
  return version < BOTH_SINCE ? MD5_ALONE : BOTH;
}
