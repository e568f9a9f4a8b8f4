import type { Bytes } from "../../../base/bytes.ts";

/** One element of a DER encoding. */
export interface Element {
  readonly tag: number;
  readonly content: Bytes;
  /** The element with its tag and length. */
  readonly whole: Bytes;
}

/** Thrown if bytes are not DER, or not in the expected form. */
export class DerError extends Error {}

const LONG_FORM = 0x80;
const LENGTH_BYTES_MAX = 3;

/** Reads the first element in `bytes`. Throws a `DerError`. */
export function readElement(bytes: Bytes): Element {
  const tag = bytes[0];
  const first = bytes[1];
  if (tag === undefined || first === undefined) throw new DerError("an element is cut short");
  const more = first & LONG_FORM ? first & ~LONG_FORM : 0;
  if (more > LENGTH_BYTES_MAX || first === LONG_FORM || bytes.length < 2 + more) {
    throw new DerError("a length makes no sense");
  }
  const length = more === 0 ? first : bytes.readUIntBE(2, more);
  const at = 2 + more;
  if (bytes.length < at + length) throw new DerError("an element is longer than what is there");
  return { tag, content: bytes.subarray(at, at + length), whole: bytes.subarray(0, at + length) };
}

/** Reads the first element, which must have this tag. */
export function expectElement(bytes: Bytes, tag: number): Element {
  const found = readElement(bytes);
  if (found.tag !== tag) throw new DerError(`tag ${found.tag} where ${tag} was expected`);
  return found;
}

/** Reads all elements of `content`. */
export function readElements(content: Bytes): Element[] {
  const found: Element[] = [];
  for (let rest = content; rest.length > 0; ) {
    const element = readElement(rest);
    found.push(element);
    rest = rest.subarray(element.whole.length);
  }
  return found;
}

export function writeElement(tag: number, ...parts: readonly Bytes[]): Bytes {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < LONG_FORM) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = length < 0x100 ? 1 : length < 0x1_0000 ? 2 : 3;
  const head = Buffer.alloc(2 + bytes);
  head[0] = tag;
  head[1] = LONG_FORM | bytes;
  head.writeUIntBE(length, 2, bytes);
  return Buffer.concat([head, content]);
}
