import { createHash } from "node:crypto";
import type { Bytes } from "../../base/bytes.ts";
import { Fault } from "../../base/fault.ts";
import type { RestRequest } from "./http/exchange.ts";
import { readWholeBody } from "./http/whole-body.ts";
import { md5Of } from "./request-headers.ts";
import { type ParseOptions, parseXml, type XmlElement } from "./xml/parse-xml.ts";

/** A body that is a document; null if it is empty. `Content-MD5` is checked where it is sent. */
export async function readXmlBody(
  request: RestRequest,
  bytesMax: number,
  options?: ParseOptions,
): Promise<XmlElement | null> {
  const wanted = md5Of(request.headers, "content-md5");
  const bytes = await readWholeBody(request.body, bytesMax);
  if (wanted !== null) refuseByMd5(wanted, bytes);
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
