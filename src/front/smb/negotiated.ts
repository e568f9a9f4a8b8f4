import type { Bytes } from "../../base/bytes.ts";
import type { Dialect } from "./codec/negotiate.ts";
import type { CipherId } from "./crypto/cipher.ts";
import type { SigningAlgorithm } from "./crypto/signer.ts";

/** What client and server agreed on in NEGOTIATE. */
export interface Negotiated {
  readonly dialect: Dialect;
  readonly signing: SigningAlgorithm;
  readonly cipher: CipherId | null;
  /** As both sides sent them: the client may verify later that they arrived unchanged. */
  readonly client: NegotiatedClient;
  readonly serverCapabilities: number;
  readonly serverSecurityMode: number;
  readonly transferBytesMax: number;
  /** The hash of request and response; zeros in dialects that do not use it. */
  preauthHash: Bytes;
}

export interface NegotiatedClient {
  readonly guid: Bytes;
  readonly dialects: readonly number[];
  readonly capabilities: number;
  readonly securityMode: number;
}
