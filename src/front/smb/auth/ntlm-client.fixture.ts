import { randomBytes } from "node:crypto";
import type { Bytes } from "../../../base/bytes.ts";
import { NtlmClient as PlainClient } from "../client/ntlm-client.ts";
import { writeElement } from "./der.ts";
import { firstSignature } from "./ntlm-keys.ts";
import { NTLM_FLAG } from "./ntlm-messages.ts";

/** A mechanism that we do not have, as an element of a list. */
export const KERBEROS: Bytes = writeElement(0x06, Buffer.from("2a864886f712010202", "hex"));

/** The client side of an authentication, with ways to do it wrong. */
export class NtlmClient extends PlainClient {
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

  /** Changes the last message after it is signed. */
  change(change: (message: Bytes) => unknown): void {
    this.#change = (message) => {
      const changed = change(message);
      return changed instanceof Buffer ? (changed as Bytes) : message;
    };
  }

  override authenticate(challenge: Bytes): Bytes {
    return this.#change(super.authenticate(challenge));
  }

  protected override answer(given: readonly Bytes[]): Bytes {
    const flags = Buffer.from([6, 0, 4, 0, this.withMic ? 2 : 0, 0, 0, 0]);
    const head = Buffer.alloc(28);
    head[0] = 1;
    head[1] = 1;
    randomBytes(8).copy(head, 16);
    const pairs = [...given];
    this.changeInfo(pairs);
    const all = [this.pairsBefore, ...pairs, flags, this.pairsBehind];
    const answer = Buffer.concat([head, ...all, Buffer.alloc(8)]);
    this.changeAnswer(answer);
    return answer;
  }

  protected override exchangedKey(base: Bytes): Bytes {
    if ((this.flags & NTLM_FLAG.keyExchange) !== 0) return super.exchangedKey(base);
    base.copy(this.sessionKey);
    return Buffer.alloc(0);
  }

  protected override sign(negotiate: Bytes, challenge: Bytes, message: Bytes): void {
    if (!this.withMic) return;
    const first = Buffer.from(negotiate);
    if (this.tampered) first[16] = 1;
    super.sign(first, challenge, message);
  }

  /** The MIC of the list of mechanisms. */
  listMic(list: Bytes): Bytes {
    return firstSignature(this.sessionKey, "client-to-server", true, list);
  }
}
