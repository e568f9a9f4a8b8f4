import type { Bytes } from "../../../base/bytes.ts";
import { type Element, expectElement, readElement, readElements, writeElement } from "./der.ts";

/** The token of a client in one step of its authentication. */
export type ClientToken =
  /** The first step: the client's mechanisms, and a token for the first of them. */
  | {
      readonly kind: "init";
      readonly mechanisms: readonly Bytes[];
      /** The encoded list, which both sides sign in the end. */
      readonly mechanismList: Bytes;
      readonly token: Bytes | null;
    }
  | { readonly kind: "response"; readonly token: Bytes | null; readonly mic: Bytes | null }
  /** NTLM without SPNEGO. */
  | { readonly kind: "bare"; readonly token: Bytes };

export const NEGOTIATION = { acceptCompleted: 0, acceptIncomplete: 1, requestMic: 3 } as const;

export interface ServerToken {
  readonly state: (typeof NEGOTIATION)[keyof typeof NEGOTIATION];
  /** Sent once, in the first response. */
  readonly mechanism: Bytes | null;
  readonly token: Bytes | null;
  readonly mic: Bytes | null;
}

/** 1.3.6.1.4.1.311.2.2.10 */
export const NTLM_MECHANISM = Buffer.from("2b06010401823702020a", "hex");
/** 1.3.6.1.5.5.2 */
const SPNEGO = Buffer.from("2b0601050502", "hex");
const NTLM_SIGNATURE = Buffer.from("NTLMSSP\0", "latin1");
const HINT = Buffer.from("not_defined_in_RFC4178@please_ignore", "latin1");

const TAG = {
  octets: 0x04,
  oid: 0x06,
  enumerated: 0x0a,
  text: 0x1b,
  sequence: 0x30,
  application: 0x60,
  field: 0xa0,
};
const field = (number: number) => TAG.field + number;

/** The hint in NEGOTIATE: NTLM is the only mechanism. */
export function serverHint(): Bytes {
  const mechanisms = writeElement(TAG.sequence, writeElement(TAG.oid, NTLM_MECHANISM));
  const hint = writeElement(TAG.sequence, writeElement(field(0), writeElement(TAG.text, HINT)));
  const init = writeElement(
    TAG.sequence,
    writeElement(field(0), mechanisms),
    writeElement(field(3), hint),
  );
  return writeElement(TAG.application, writeElement(TAG.oid, SPNEGO), writeElement(field(0), init));
}

/** Reads a client's token. Throws a `DerError` if it is malformed. */
export function readClientToken(bytes: Bytes): ClientToken {
  if (bytes.subarray(0, NTLM_SIGNATURE.length).equals(NTLM_SIGNATURE)) {
    return { kind: "bare", token: bytes };
  }
  const top = readElement(bytes);
  return top.tag === TAG.application ? readInit(top) : readResponse(expectElement(bytes, field(1)));
}

function readInit({ content }: Element): ClientToken {
  const oid = expectElement(content, TAG.oid);
  const wrapped = expectElement(content.subarray(oid.whole.length), field(0));
  const fields = readFields(wrapped.content);
  const list = expectElement(fields.get(field(0)) ?? Buffer.alloc(0), TAG.sequence);
  return {
    kind: "init",
    mechanisms: readElements(list.content).map((one) => one.content),
    mechanismList: list.whole,
    token: octetsIn(fields, 2),
  };
}

function readResponse({ content }: Element): ClientToken {
  const fields = readFields(content);
  return { kind: "response", token: octetsIn(fields, 2), mic: octetsIn(fields, 3) };
}

function readFields(bytes: Bytes): Map<number, Bytes> {
  const sequence = expectElement(bytes, TAG.sequence);
  return new Map(readElements(sequence.content).map(({ tag, content }) => [tag, content]));
}

function octetsIn(fields: Map<number, Bytes>, number: number): Bytes | null {
  const found = fields.get(field(number));
  return found === undefined ? null : expectElement(found, TAG.octets).content;
}

export function writeServerToken({ state, mechanism, token, mic }: ServerToken): Bytes {
  const fields = [writeElement(field(0), writeElement(TAG.enumerated, Buffer.from([state])))];
  if (mechanism !== null) fields.push(writeElement(field(1), writeElement(TAG.oid, mechanism)));
  if (token !== null) fields.push(writeElement(field(2), writeElement(TAG.octets, token)));
  if (mic !== null) fields.push(writeElement(field(3), writeElement(TAG.octets, mic)));
  return writeElement(field(1), writeElement(TAG.sequence, ...fields));
}
