import { randomBytes } from "node:crypto";
import type { Bytes } from "../../../base/bytes.ts";
import { Rc4 } from "../crypto/rc4.ts";
import { writeElement } from "./der.ts";
import { firstSignature, hmacMd5, passwordHash, userKey } from "./ntlm-keys.ts";
import { NTLM_FLAG } from "./ntlm-messages.ts";
import { NTLM_MECHANISM } from "./spnego.ts";

const SIGNATURE = Buffer.from("NTLMSSP\0", "latin1");
const KERBEROS = Buffer.from("2a864886f712010202", "hex");
const FLAGS =
  NTLM_FLAG.unicode |
  NTLM_FLAG.sign |
  NTLM_FLAG.ntlm |
  NTLM_FLAG.alwaysSign |
  NTLM_FLAG.extendedSecurity |
  NTLM_FLAG.bits128 |
  NTLM_FLAG.keyExchange;

export interface NtlmUser {
  readonly user: string;
  readonly domain: string;
  readonly password: string;
}

/** The client side of an authentication, with ways to do it wrong. */
export class NtlmClient {
  readonly sessionKey = randomBytes(16);
  flags = FLAGS as number;
  withMic = true;
  /** Flips a bit in the first message before it goes into the MIC. */
  tampered = false;
  /** Pairs before and behind all others in the response. */
  pairsBefore: Bytes = Buffer.alloc(0);
  pairsBehind: Bytes = Buffer.alloc(0);
  /** Changes the pairs of the target info, or the response, before the proof is computed. */
  changeInfo: (pairs: Bytes[]) => void = () => {};
  changeAnswer: (answer: Bytes) => void = () => {};
  #change: (message: Bytes) => Bytes = (message) => message;
  readonly #user: NtlmUser;
  #negotiate: Bytes = Buffer.alloc(0);

  constructor(user: NtlmUser) {
    this.#user = user;
  }

  /** Changes the last message after it is signed. */
  change(change: (message: Bytes) => unknown): void {
    this.#change = (message) => {
      const changed = change(message);
      return changed instanceof Buffer ? (changed as Bytes) : message;
    };
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
    const info = challenge.subarray(infoAt, infoAt + infoLength - 4);
    const answer = this.#answer(info);
    const key = userKey(passwordHash(password), user, domain);
    const proof = hmacMd5(key, challenge.subarray(24, 32), answer);
    const base = hmacMd5(key, proof);
    const hasKeyExchange = (this.flags & NTLM_FLAG.keyExchange) !== 0;
    if (!hasKeyExchange) base.copy(this.sessionKey);
    const message = this.#message({
      response: Buffer.concat([proof, answer]),
      domain: Buffer.from(domain, "utf16le"),
      user: Buffer.from(user, "utf16le"),
      key: hasKeyExchange ? new Rc4(base).apply(this.sessionKey) : Buffer.alloc(0),
    });
    if (this.withMic) this.#sign(challenge, message);
    return this.#change(message);
  }

  #answer(info: Bytes): Bytes {
    const flags = Buffer.from([6, 0, 4, 0, this.withMic ? 2 : 0, 0, 0, 0]);
    const head = Buffer.alloc(28);
    head[0] = 1;
    head[1] = 1;
    randomBytes(8).copy(head, 16);
    const pairs = pairsIn(info);
    this.changeInfo(pairs);
    const all = [this.pairsBefore, ...pairs, flags, this.pairsBehind];
    const answer = Buffer.concat([head, ...all, Buffer.alloc(8)]);
    this.changeAnswer(answer);
    return answer;
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

  #sign(challenge: Bytes, message: Bytes): void {
    const negotiate = Buffer.from(this.#negotiate);
    if (this.tampered) negotiate[16] = 1;
    hmacMd5(this.sessionKey, negotiate, challenge, message).copy(message, 72);
  }

  /** The MIC of the list of mechanisms. */
  listMic(list: Bytes): Bytes {
    return firstSignature(this.sessionKey, "client-to-server", true, list);
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

export function mechanismList(kerberosFirst = false): Bytes {
  const ntlm = writeElement(0x06, NTLM_MECHANISM);
  return kerberosFirst
    ? writeElement(0x30, writeElement(0x06, KERBEROS), ntlm)
    : writeElement(0x30, ntlm);
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
