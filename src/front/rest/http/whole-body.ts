import { type Bytes, collect, NO_BYTES } from "../../../base/bytes.ts";
import { Fault } from "../../../base/fault.ts";
import { MIB } from "../../../base/limits.ts";
import { MemoryBudget } from "../../../base/memory-budget.ts";
import type { RestRequest } from "./exchange.ts";

/** Most memory for all bodies of a server that are being collected. */
const WHOLE_BYTES_MAX = 256 * MIB;

/** The memory for bodies that are read whole. The listeners of a server share it. */
export function wholeBodyBudget(): MemoryBudget {
  return new MemoryBudget(WHOLE_BYTES_MAX);
}

/** Reads a body that is needed as a whole, such as an XML document. */
export async function readWholeBody(
  { body, wholeBodies }: Pick<RestRequest, "body" | "wholeBodies">,
  bytesMax: number,
): Promise<Bytes> {
  const { length } = body;
  if (length > bytesMax) throw new Fault("RequestBodyTooLarge", { MaxLimit: String(bytesMax) });
  if (length === 0) return NO_BYTES;
  if (!wholeBodies.tryTake(length)) throw new Fault("ServerBusy");
  try {
    return await collect(body);
  } finally {
    wholeBodies.release(length);
  }
}
