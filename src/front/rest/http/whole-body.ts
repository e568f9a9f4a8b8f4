import { type Body, type Bytes, collect, NO_BYTES } from "../../../base/bytes.ts";
import { Fault } from "../../../base/fault.ts";
import { MIB } from "../../../base/limits.ts";

/** Most memory for all bodies that are being collected, in this process. */
const COLLECTED_BYTES_MAX = 256 * MIB;

let collectedBytes = 0;

/** Reads a body that is needed as a whole, such as an XML document. */
export async function readWholeBody(body: Body, bytesMax: number): Promise<Bytes> {
  if (body.length > bytesMax) {
    throw new Fault("RequestBodyTooLarge", { MaxLimit: String(bytesMax) });
  }
  if (body.length === 0) return NO_BYTES;
  if (collectedBytes + body.length > COLLECTED_BYTES_MAX) throw new Fault("ServerBusy");
  collectedBytes += body.length;
  try {
    return await collect(body);
  } finally {
    collectedBytes -= body.length;
  }
}
