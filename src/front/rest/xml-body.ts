import { createHash } from "node:crypto";
import type { Bytes } from "../../base/bytes.ts";
import { crc64 } from "../../base/crc64.ts";
import { Fault } from "../../base/fault.ts";
import type { RestRequest } from "./http/exchange.ts";
import { readWholeBody } from "./http/whole-body.ts";
import { digestsOf } from "./request-headers.ts";
import { type ParseOptions, parseXml, type XmlElement } from "./xml/parse-xml.ts";

/** A body that is a document; null if it is empty. Its digests are checked where they are sent. */
export async function readXmlBody(
  request: RestRequest,
  bytesMax: number,
  options?: ParseOptions,
): Promise<XmlElement | null> {
  const wanted = digestsOf(request.headers);
  const bytes = await readWholeBody(request.body, bytesMax);
  if (wanted.md5 !== null) refuseByMd5(wanted.md5, bytes);
  if (wanted.crc64?.equals(crc64(bytes)) === false) throw new Fault("Crc64Mismatch");
  return bytes.length === 0 ? null : parseXml(bytes, options);
}

function refuseByMd5(wanted: Bytes, bytes: Bytes): void {
  const found = createHash("md5").update(bytes).digest();
  if (found.equals(wanted)) return;
  throw new Fault("Md5Mismatch", {
    UserSpecifiedMd5: wanted.toString("base64"),
    ServerCalculatedMd5: found.toString("base64"),
  });
}
