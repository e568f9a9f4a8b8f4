import { KIB, MIB } from "../../../base/limits.ts";
import type { TableLimits } from "../../connection-table.ts";
import type { PaceLimit } from "../../pace.ts";

/** What one listener grants its clients. Tests make these tiny; nothing waits for real time there. */
export interface ListenerLimits extends TableLimits {
  /** Connections beyond the limit that get a 503; more are closed without an answer. */
  readonly surplusConnectionsMax: number;
  /** Request line and headers together. Metadata takes up to 8 KiB, a copy source with a SAS 2 KiB. */
  readonly headerBytesMax: number;
  /** For the whole head of a request, and for the TLS handshake. */
  readonly headersMs: number;
  readonly headersCheckMs: number;
  /** How long a connection may idle between two requests; 0 for ever. */
  readonly keepAliveMs: number;
  /** How often the progress of slow transfers is looked at. */
  readonly paceCheckMs: number;
  readonly receive: PaceLimit;
  readonly send: PaceLimit;
  /** Up to this much of a refused body is read and forgotten to keep the connection. */
  readonly unreadBytesMax: number;
  /** Of a larger one this much is, so that the client has a chance to see the answer. */
  readonly discardBytesMax: number;
  readonly discardIdleMs: number;
  /** A connection is not read on while so much waits for its turn behind a request. */
  readonly heldBytesMax: number;
  /** For requests that run when the server stops. */
  readonly drainMs: number;
}

/**
 * A transfer may take for ever as long as it moves: 64 KiB a minute for uploads, and for downloads
 * 16 KiB, as programs that digest what they read may well be slow.
 */
export const DEFAULT_LIMITS: ListenerLimits = {
  connectionsMax: 4_096,
  connectionsPerAddressMax: 2_048,
  surplusConnectionsMax: 64,
  headerBytesMax: 32 * KIB,
  headersMs: 10_000,
  headersCheckMs: 2_000,
  keepAliveMs: 5 * 60_000,
  paceCheckMs: 10_000,
  receive: { checks: 6, bytesMin: 64 * KIB },
  send: { checks: 6, bytesMin: 16 * KIB },
  unreadBytesMax: 256 * KIB,
  discardBytesMax: 256 * MIB,
  discardIdleMs: 5_000,
  heldBytesMax: 64 * KIB,
  drainMs: 20_000,
};
