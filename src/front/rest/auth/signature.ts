import { hash, timingSafeEqual } from "node:crypto";
import type { Bytes } from "../../../base/bytes.ts";
import { Fault } from "../../../base/fault.ts";

const BLOCK_BYTES = 64;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;
/** A MAC in Base64. */
const MAC_CHARS = 44;
const ROOM_BYTES = 4_096;

/**
 * A key for HMAC-SHA-256. Two hashes with the key's pads in front cost half of what Node's own Hmac
 * does, and every request needs one. What is private does not print.
 */
export class MacKey {
  /** The inner pad, and room for a text behind it. */
  readonly #inner: Bytes;
  /** The outer pad, and room for a hash behind it. */
  readonly #outer: Bytes;

  constructor(key: Bytes) {
    const block = Buffer.alloc(BLOCK_BYTES);
    (key.length > BLOCK_BYTES ? hash("sha256", key, "buffer") : key).copy(block);
    this.#inner = Buffer.alloc(BLOCK_BYTES + ROOM_BYTES);
    this.#outer = Buffer.alloc(BLOCK_BYTES + 32);
    for (let at = 0; at < BLOCK_BYTES; at++) {
      const value = block[at] as number;
      this.#inner[at] = value ^ INNER_PAD;
      this.#outer[at] = value ^ OUTER_PAD;
    }
  }

  /** In Base64. */
  mac(text: string): string {
    // A string out of `hash` is cheaper than a buffer.
    this.#outer.write(hash("sha256", this.#padded(text), "binary"), BLOCK_BYTES, "latin1");
    return hash("sha256", this.#outer, "base64");
  }

  #padded(text: string): Bytes {
    // No character takes more than three bytes.
    if (text.length * 3 <= ROOM_BYTES) {
      return this.#inner.subarray(0, BLOCK_BYTES + this.#inner.write(text, BLOCK_BYTES, "utf8"));
    }
    return Buffer.concat([this.#inner.subarray(0, BLOCK_BYTES), Buffer.from(text, "utf8")]);
  }
}

/** Whether one of the keys makes this MAC from the text. A near miss takes as long as a far one. */
export function isSigned(base64: string, text: string, keys: readonly MacKey[]): boolean {
  if (base64.length !== MAC_CHARS) return false;
  const given = Buffer.from(base64, "latin1");
  for (const key of keys) {
    if (timingSafeEqual(Buffer.from(key.mac(text), "latin1"), given)) return true;
  }
  return false;
}

/**
 * 403. `detail` is the service's sentence where it is known; `reason` is ours, and says what the
 * client's developer should look at.
 */
export function authenticationFailed(detail: string, reason?: string): Fault {
  return new Fault("AuthenticationFailed", detailOf(detail, reason));
}

/** Refused because no key of the account makes this signature from what was asked. */
export class SignatureMismatch extends Fault {
  constructor(detail: string, reason: string) {
    super("AuthenticationFailed", detailOf(detail, reason));
  }
}

export function detailOf(detail: string, reason?: string): Record<string, string> {
  const sentence = { AuthenticationErrorDetail: detail };
  return reason === undefined ? sentence : { ...sentence, Reason: reason };
}

/** With control characters spelled out. Line ends stay: a string to sign is shown as it is. */
export function printable(text: string): string {
  let shown = "";
  for (const char of text) shown += isControl(char) && char !== "\n" ? spelled(char) : char;
  return shown;
}

/** On one line, in quotes. */
export function readable(text: string): string {
  return `'${printable(text).replaceAll("\n", "\\n")}'`;
}

function isControl(char: string): boolean {
  return char < " " || char === "\x7f";
}

function spelled(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
