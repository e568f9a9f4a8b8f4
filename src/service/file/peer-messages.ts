import type { Bytes } from "../../base/bytes.ts";

/** What a front end tells another one (`receive-message.ts`), as bytes. */
export interface Message {
  readonly kind: string;
}

/** JSON has neither large numbers nor sets nor bytes. */
type Tagged =
  | { readonly number: string }
  | { readonly set: readonly unknown[] }
  | { readonly hex: string };

export function encodeMessage<M extends Message>(message: M): Bytes {
  return Buffer.from(JSON.stringify(tag(message)));
}

export function decodeMessage(message: Bytes): Message {
  return JSON.parse(message.toString(), (_name, value) => untag(value));
}

function tag(value: unknown): unknown {
  if (typeof value === "bigint") return { number: `${value}` } satisfies Tagged;
  if (Buffer.isBuffer(value)) return { hex: value.toString("hex") } satisfies Tagged;
  if (value instanceof Set) return { set: [...value].map(tag) } satisfies Tagged;
  if (Array.isArray(value)) return value.map(tag);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, tag(one)]));
}

function untag(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if ("number" in value) return BigInt(value.number as string);
  if ("hex" in value) return Buffer.from(value.hex as string, "hex");
  if ("set" in value) return new Set(value.set as readonly unknown[]);
  return value;
}
