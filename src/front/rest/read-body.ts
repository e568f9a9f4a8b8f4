import type { Body, Bytes } from "../../base/bytes.ts";
import { Fault } from "../../base/fault.ts";

/** All of a body that is known to be small, such as an XML document. */
export async function readBody(body: Body, bytesMax: number): Promise<Bytes> {
  if (body.length > bytesMax) {
    throw new Fault("RequestBodyTooLarge", { MaxLimit: String(bytesMax) });
  }
  const parts: Bytes[] = [];
  await body.drain((part) => {
    parts.push(part);
  });
  return parts.length === 1 ? (parts[0] as Bytes) : Buffer.concat(parts);
}
