import { KIB, MIB } from "../../../base/limits.ts";
import type { TableLimits } from "../../connection-table.ts";
import type { PaceLimit } from "../../pace.ts";

/** The limits of one listener. Tests make them tiny, so that nothing waits for real time. */
export interface ListenerLimits extends TableLimits {
  /** Connections beyond the limit that still get a 503; others are closed without an answer. */
  readonly surplusConnectionsMax: number;
  /** Request line and headers. Metadata takes up to 8 KiB, a copy source with a SAS 2 KiB. */
  readonly headerBytesMax: number;
  /** Time for the head of a request, and for the TLS handshake. */
  readonly headersMs: number;
  readonly headersCheckMs: number;
  /** How long a connection may idle between two requests; 0 for no limit. */
  readonly keepAliveMs: number;
  /** How often the progress of slow transfers is checked. */
  readonly paceCheckMs: number;
  readonly receive: PaceLimit;
  readonly send: PaceLimit;
  /** A refused body with up to this much unread is read and dropped, to keep the connection. */
  readonly unreadBytesMax: number;
  /**
   * Of a larger one this much is read before the connection is closed, so that the client sees the
   * answer.
   */
  readonly discardBytesMax: number;
  readonly discardIdleMs: number;
  /** The server stops reading while this much is buffered behind the current request. */
  readonly bufferedBytesMax: number;
  /** Time for running requests when the server stops. */
  readonly drainMs: number;
}

/**
 * A transfer may take any time as long as it moves: 64 KiB a minute for uploads, and 16 KiB for
 * downloads, because programs that process what they read may be slow.
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
  bufferedBytesMax: 64 * KIB,
  drainMs: 20_000,
};
