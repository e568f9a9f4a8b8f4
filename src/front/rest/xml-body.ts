import { createHash } from "node:crypto";
import type { Bytes } from "../../base/bytes.ts";
import { type BodyDigests, requireDigests } from "../../base/digests.ts";
import { fairQueue, inSlices, PIECE_BYTES } from "../../base/fair-queue.ts";
import { Crc64 } from "../../machine/crc64.ts";
import type { RestRequest } from "./http/exchange.ts";
import { readWholeBody } from "./http/whole-body.ts";
import { digestsOf } from "./request-headers.ts";
import { type ParseOptions, parseXml, parseXmlInSteps, type XmlElement } from "./xml/parse-xml.ts";

/** Larger than for other work, as digests are fast. */
const DIGESTED_BYTES = 8 * PIECE_BYTES;

/** Reads a body that is an XML document; null if it is empty. Checks the digests that are sent. */
export async function readXmlBody(
  request: RestRequest,
  bytesMax: number,
  options?: ParseOptions,
): Promise<XmlElement | null> {
  const wanted = digestsOf(request.headers);
  const bytes = await readWholeBody(request, bytesMax);
  const isMd5 = wanted.md5 !== null;
  requireDigests(wanted, await digestsOfWhole(bytes, { md5: isMd5, crc64: wanted.crc64 !== null }));
  if (bytes.length === 0) return null;
  return bytes.length <= PIECE_BYTES
    ? parseXml(bytes, options)
    : inSlices(parseXmlInSteps(bytes, options));
}

/** Computes the digests that are asked for, of a body in memory. */
export async function digestsOfWhole(
  bytes: Bytes,
  asked: { readonly md5: boolean; readonly crc64: boolean },
): Promise<BodyDigests> {
  const md5 = asked.md5 ? createHash("md5") : null;
  const crc64 = asked.crc64 ? new Crc64() : null;
  for (let at = 0; at < bytes.length && (asked.md5 || asked.crc64); at += DIGESTED_BYTES) {
    if (at > 0) await fairQueue.next();
    const piece = bytes.subarray(at, at + DIGESTED_BYTES);
    md5?.update(piece);
    crc64?.update(piece);
  }
  return { md5: md5?.digest() ?? null, crc64: crc64?.digest() ?? null };
}
