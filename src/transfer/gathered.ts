import type { Bytes } from "../base/bytes.ts";
import type { Body } from "./item.ts";
import { TransferError } from "./transfer-error.ts";

/** All bytes of a small body. */
export async function gathered(body: Body): Promise<Bytes> {
  const parts: Bytes[] = [];
  for await (const part of body.read()) parts.push(part);
  const all = parts.length === 1 ? (parts[0] as Bytes) : Buffer.concat(parts);
  if (all.length !== body.bytes) throw new TransferError("A source changed while it was read.");
  return all;
}
