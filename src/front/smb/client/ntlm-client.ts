import { randomBytes } from "node:crypto";
import type { Bytes } from "../../../base/bytes.ts";
import { writeElement } from "../auth/der.ts";
import { hmacMd5, passwordHash, userKey } from "../auth/ntlm-keys.ts";
import { NTLM_FLAG } from "../auth/ntlm-messages.ts";
import { NTLM_MECHANISM } from "../auth/spnego.ts";
import { Rc4 } from "../crypto/rc4.ts";

const SIGNATURE = Buffer.from("NTLMSSP\0", "latin1");
const FLAGS =
  NTLM_FLAG.unicode |
  NTLM_FLAG.sign |
  NTLM_FLAG.ntlm |
  NTLM_FLAG.alwaysSign |
  NTLM_FLAG.extendedSecurity |
  NTLM_FLAG.bits128 |
  NTLM_FLAG.keyExchange;
/** The pair of the target info that promises a MIC. */
const WITH_MIC = Buffer.from([6, 0, 4, 0, 2, 0, 0, 0]);

export interface NtlmUser {
  readonly user: string;
  readonly domain: string;
  readonly password: string;
}

/** The client's side of an authentication. */
export class NtlmClient {
  readonly sessionKey = randomBytes(16);
  flags = FLAGS as number;
  readonly #user: NtlmUser;
  #negotiate: Bytes = Buffer.alloc(0);

  constructor(user: NtlmUser) {
    this.#user = user;
  }

  negotiate(): Bytes {
    const message = Buffer.alloc(32);
    SIGNATURE.copy(message);
    message.writeUInt32LE(1, 8);
    message.writeUInt32LE(this.flags >>> 0, 12);
    this.#negotiate = message;
    return message;
  }

  authenticate(challenge: Bytes): Bytes {
    const { user, domain, password } = this.#user;
    const infoLength = challenge.readUInt16LE(40);
    const infoAt = challenge.readUInt32LE(44);
    const answer = this.answer(pairsIn(challenge.subarray(infoAt, infoAt + infoLength - 4)));
    const key = userKey(passwordHash(password), user, domain);
    const proof = hmacMd5(key, challenge.subarray(24, 32), answer);
    const message = this.#message({
      response: Buffer.concat([proof, answer]),
      domain: Buffer.from(domain, "utf16le"),
      user: Buffer.from(user, "utf16le"),
      key: this.exchangedKey(hmacMd5(key, proof)),
    });
    this.sign(this.#negotiate, challenge, message);
    return message;
  }

  /** The response to a challenge with these pairs of target info, without its proof. */
  protected answer(pairs: readonly Bytes[]): Bytes {
    const head = Buffer.alloc(28);
    head[0] = 1;
    head[1] = 1;
    randomBytes(8).copy(head, 16);
    return Buffer.concat([head, ...pairs, WITH_MIC, Buffer.alloc(8)]);
  }

  /** The session's key as it is sent, encrypted with the key that both know. */
  protected exchangedKey(base: Bytes): Bytes {
    return new Rc4(base).apply(this.sessionKey);
  }

  /** Puts the MIC of all three messages into the last one. */
  protected sign(negotiate: Bytes, challenge: Bytes, message: Bytes): void {
    hmacMd5(this.sessionKey, negotiate, challenge, message).copy(message, 72);
  }

  #message(parts: Record<"response" | "domain" | "user" | "key", Bytes>): Bytes {
    const head = Buffer.alloc(88);
    SIGNATURE.copy(head);
    head.writeUInt32LE(3, 8);
    head.writeUInt32LE(this.flags >>> 0, 60);
    let offset = head.length;
    const place = (at: number, bytes: Bytes) => {
      head.writeUInt16LE(bytes.length, at);
      head.writeUInt16LE(bytes.length, at + 2);
      head.writeUInt32LE(offset, at + 4);
      offset += bytes.length;
    };
    place(20, parts.response);
    place(28, parts.domain);
    place(36, parts.user);
    place(52, parts.key);
    return Buffer.concat([head, parts.response, parts.domain, parts.user, parts.key]);
  }
}

function pairsIn(info: Bytes): Bytes[] {
  const pairs: Bytes[] = [];
  for (let rest = Buffer.from(info); rest.length > 0; ) {
    const length = 4 + rest.readUInt16LE(2);
    pairs.push(rest.subarray(0, length));
    rest = rest.subarray(length);
  }
  return pairs;
}

export function mechanismList(...before: readonly Bytes[]): Bytes {
  return writeElement(0x30, ...before, writeElement(0x06, NTLM_MECHANISM));
}

export function initToken(list: Bytes, token: Bytes): Bytes {
  const spnego = writeElement(0x06, Buffer.from("2b0601050502", "hex"));
  const init = writeElement(
    0x30,
    writeElement(0xa0, list),
    writeElement(0xa2, writeElement(0x04, token)),
  );
  return writeElement(0x60, spnego, writeElement(0xa0, init));
}

export function responseToken(token: Bytes, mic: Bytes | null = null): Bytes {
  const fields = [writeElement(0xa2, writeElement(0x04, token))];
  if (mic !== null) fields.push(writeElement(0xa3, writeElement(0x04, mic)));
  return writeElement(0xa1, writeElement(0x30, ...fields));
}

/** The NTLM message in a token of the server. */
export function ntlmIn(token: Bytes): Bytes {
  return token.subarray(token.indexOf(SIGNATURE));
}
