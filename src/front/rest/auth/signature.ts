import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import type { Bytes } from "../../../base/bytes.ts";
import { Fault } from "../../../base/fault.ts";

const MAC_BYTES = 32;

export function macOf(key: KeyObject, text: string): Bytes {
  return createHmac("sha256", key).update(text, "utf8").digest();
}

/** The MAC that this Base64 spells; null unless it is spelled exactly as it should be. */
export function parseMac(base64: string): Bytes | null {
  const mac = Buffer.from(base64, "base64");
  return mac.length === MAC_BYTES && mac.toString("base64") === base64 ? mac : null;
}

/** Whether one of the keys makes this MAC from the text. A near miss takes as long as a far one. */
export function isSigned(mac: Bytes | null, text: string, keys: readonly KeyObject[]): boolean {
  if (mac === null) return false;
  for (const key of keys) if (timingSafeEqual(macOf(key, text), mac)) return true;
  return false;
}

/** 403, with a sentence that tells the client's developer what to look at. */
export function authenticationFailed(detail: string): Fault {
  return new Fault("AuthenticationFailed", { AuthenticationErrorDetail: detail });
}

/** Quoted, and with what does not print spelled out: `'GET\n\n'`. */
export function readable(text: string): string {
  let shown = "";
  for (const char of text) shown += char < " " || char === "\x7f" ? spelled(char) : char;
  return `'${shown}'`;
}

function spelled(char: string): string {
  if (char === "\n") return "\\n";
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
