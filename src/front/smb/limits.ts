import { KIB, MIB } from "../../base/limits.ts";
import type { TableLimits } from "../connection-table.ts";
import type { PaceLimit } from "../pace.ts";

/** What one SMB listener grants its clients. */
export interface SmbLimits extends TableLimits {
  /** Of any frame. A length has 24 bits. */
  readonly frameBytesMax: number;
  /** Of a frame on a connection where nobody has logged on yet. */
  readonly strangerFrameBytesMax: number;
  /** For logging on. */
  readonly logonMs: number;
  readonly compoundMax: number;
  readonly sessionsPerConnectionMax: number;
  readonly treesPerSessionMax: number;
  readonly opensPerSessionMax: number;
  /** Opens whose clients have lost their connections. */
  readonly durableOpensMax: number;
  /** Requests of one connection that wait for something to happen. */
  readonly pendingMax: number;
  /** Requests and answers of one connection that are held in memory; beyond it nothing is read. */
  readonly heldBytesMax: number;
  /** Answers to READ of one connection that are in memory at a time; the next wait for their turn. */
  readonly readBytesMax: number;
  readonly paceCheckMs: number;
  /** Of a client that reads its answers. */
  readonly send: PaceLimit;
  /** How long the first write of an open leaves the time of the last write alone. */
  readonly writeTimeMs: number;
  /** How long what is read ahead waits for its client to ask for it. */
  readonly readAheadMs: number;
}

/** What a client may read, write or query at once. Dialect 2.0.2 has no more than one credit for it. */
export const TRANSFER_BYTES_MAX = 8 * MIB;
export const TRANSFER_BYTES_MAX_202 = 64 * KIB;
/** AES-CCM takes a message at one go (2 ms for each of these), so its messages are smaller. */
export const TRANSFER_BYTES_MAX_CCM = MIB;
/** Beyond this, a frame is encrypted, decrypted, signed and checked in slices. */
export const SLICED_BYTES_MIN = 256 * KIB;
/** What one credit pays for. */
export const CREDIT_BYTES = 64 * KIB;
/** What is remembered of the changes in a directory between two questions. */
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
  heldBytesMax: 64 * MIB,
  readBytesMax: 16 * MIB,
  paceCheckMs: 10_000,
  send: { checks: 3, bytesMin: 16 * KIB },
  writeTimeMs: 2_000,
  readAheadMs: 2_000,
};
