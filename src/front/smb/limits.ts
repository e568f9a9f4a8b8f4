import { KIB, MIB } from "../../base/limits.ts";
import type { TableLimits } from "../connection-table.ts";
import type { PaceLimit } from "../pace.ts";

/** Limits of one SMB listener. */
export interface SmbLimits extends TableLimits {
  /** The longest frame. A length has 24 bits. */
  readonly frameBytesMax: number;
  /** The longest frame before a log-on. */
  readonly strangerFrameBytesMax: number;
  /** The time for logging on. */
  readonly logonMs: number;
  readonly compoundMax: number;
  readonly sessionsPerConnectionMax: number;
  readonly treesPerSessionMax: number;
  readonly opensPerSessionMax: number;
  /** The most opens whose clients have lost their connections. */
  readonly durableOpensMax: number;
  /** The most requests of one connection that wait for an event. */
  readonly pendingMax: number;
  /** Requests and responses of one connection in memory; beyond it reading pauses. */
  readonly memoryBytesMax: number;
  /** Responses to READ of one connection in memory; further ones wait. */
  readonly readBytesMax: number;
  readonly paceCheckMs: number;
  /** The least speed at which a client must receive responses. */
  readonly send: PaceLimit;
  /** The delay until the first write of an open updates the last-write time. */
  readonly writeTimeMs: number;
  /** How long bytes read ahead wait for their client to ask for them. */
  readonly readAheadMs: number;
}

/** The largest read, write or query. Dialect 2.0.2 has only one credit for it. */
export const TRANSFER_BYTES_MAX = 8 * MIB;
export const TRANSFER_BYTES_MAX_202 = 64 * KIB;
/** Smaller for AES-CCM, which cannot be sliced: a message of this size takes 2 ms. */
export const TRANSFER_BYTES_MAX_CCM = MIB;
/** Beyond this, a frame is encrypted, decrypted, signed and checked in slices. */
export const SLICED_BYTES_MIN = 256 * KIB;
/** The bytes that one credit pays for. */
export const CREDIT_BYTES = 64 * KIB;
/** Changes in a directory that are remembered between two requests. */
export const NOTICES_BYTES_MAX = 64 * KIB;

export const DEFAULT_SMB_LIMITS: SmbLimits = {
  connectionsMax: 4_096,
  connectionsPerAddressMax: 2_048,
  frameBytesMax: 16 * MIB - 1,
  strangerFrameBytesMax: 64 * KIB,
  logonMs: 30_000,
  compoundMax: 64,
  sessionsPerConnectionMax: 64,
  treesPerSessionMax: 256,
  opensPerSessionMax: 16_384,
  durableOpensMax: 16_384,
  pendingMax: 1_024,
  memoryBytesMax: 64 * MIB,
  readBytesMax: 16 * MIB,
  paceCheckMs: 10_000,
  send: { checks: 3, bytesMin: 16 * KIB },
  writeTimeMs: 2_000,
  readAheadMs: 2_000,
};
