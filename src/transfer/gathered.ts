import type { Bytes } from "../base/bytes.ts";
import type { Body } from "./item.ts";
import { TransferError } from "./transfer-error.ts";

/** Longer bodies are not held. */
const HELD_BYTES_MAX = 256 * 1024;

/** The same body with its bytes in memory, if it is small: it can be read, then. */
export async function heldIfSmall(body: Body): Promise<Body> {
  if (body.bytes > HELD_BYTES_MAX) return body;
  return heldBody(await gathered(body));
}

/** A body whose bytes are in memory. */
export function heldBody(bytes: Bytes): Body {
  return {
    bytes: bytes.length,
    held: bytes,
    async *read(from = 0, count = bytes.length - from) {
      yield bytes.subarray(from, from + count);
    },
  };
}

/** All bytes of a small body. */
export async function gathered(body: Body): Promise<Bytes> {
  if (body.held !== undefined) return body.held;
  const parts: Bytes[] = [];
  for await (const part of body.read()) parts.push(part);
  const all = parts.length === 1 ? (parts[0] as Bytes) : Buffer.concat(parts);
  if (all.length !== body.bytes) throw new TransferError("A source changed while it was read.");
  return all;
}
