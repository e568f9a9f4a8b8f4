import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Bytes } from "../../../base/bytes.ts";
import { md4 } from "../crypto/md4.ts";
import { Rc4 } from "../crypto/rc4.ts";

/** The NTLM hash of a password; here the password is the text of an account key. */
export function passwordHash(password: string): Bytes {
  return md4(Buffer.from(password, "utf16le"));
}

export function hmacMd5(key: Bytes, ...parts: readonly Bytes[]): Bytes {
  const hmac = createHmac("md5", key);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

/** The key of NTLMv2 for a user, with the domain as the client wrote it. */
export function userKey(hash: Bytes, user: string, domain: string): Bytes {
  return hmacMd5(hash, Buffer.from(user.toUpperCase() + domain, "utf16le"));
}

export function isProved(key: Bytes, challenge: Bytes, answer: Bytes, proof: Bytes): boolean {
  return timingSafeEqual(hmacMd5(key, challenge, answer), proof);
}

const SIGNATURE_VERSION = Buffer.from([1, 0, 0, 0]);
/** Each side signs once, with its first sequence number. */
const FIRST = Buffer.alloc(4);

/** The first signature of one side, which SPNEGO uses for the list of mechanisms. */
export function firstSignature(
  sessionKey: Bytes,
  side: "client-to-server" | "server-to-client",
  keyExchange: boolean,
  message: Bytes,
): Bytes {
  const made = (what: string) =>
    createHash("md5")
      .update(sessionKey)
      .update(`session key to ${side} ${what} key magic constant\0`, "latin1")
      .digest();
  const checksum = hmacMd5(made("signing"), FIRST, message).subarray(0, 8);
  const sealed = keyExchange ? new Rc4(made("sealing")).apply(checksum) : checksum;
  return Buffer.concat([SIGNATURE_VERSION, sealed, FIRST]);
}
