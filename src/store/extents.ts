import type { BufferOwner } from "../base/borrowed-buffer.ts";
import type { Body, Bytes } from "../base/bytes.ts";

/**
 * Bulk bytes in append-only files: written once, never changed, found by address. Which bytes are
 * in use is recorded in the store (see `content/content-uses.ts`).
 */
export interface Extents extends ExtentWrites {
  /**
   * Pins extents: their bytes stay readable until `release`, even if the extents are removed.
   * Synchronous, so that the transaction that reads an address can pin it. Throws "damaged" if an
   * extent is missing.
   */
  pin(extents: Iterable<number>): Pin;
  /**
   * Reads bytes at an address in a pinned extent. Borrowing them fails with "damaged" if their
   * checksums do not match.
   */
  read(at: Address, from: number, length: number): BufferOwner;
  /** The highest number that an extent has had so far. */
  readonly lastExtent: number;
  /** All extents, oldest first; an engine with very many lists those that it used last. */
  list(): readonly ExtentInfo[];
  /** Looks up an extent, also one that is not listed; undefined if it was removed or never was. */
  find(extent: number): Promise<ExtentInfo | undefined>;
  /** Stops writing to this extent; later bodies go to others. */
  seal(extent: number): void;
  /**
   * Frees an extent's space once it is not pinned, or retains it for the next extent to be added.
   * The caller makes sure that none of its bytes are in use.
   */
  remove(extent: number): Promise<void>;
  /** Frees the space that `remove` has retained. */
  trim(): Promise<void>;
  /** Whether a new extent may use the space of a removed one. */
  readonly reusesSpace: boolean;
  /** Present if the engine's space can run out. */
  readonly space?: ScarceSpace | undefined;
  close(): Promise<void>;
}

/** Disk space that can run out, with a reserve for that time. */
export interface ScarceSpace {
  /** While true, the sweeper retains no space, and also compacts extents with little garbage. */
  readonly isShort: boolean;
  /** Whether compaction can write this many bytes before it frees their old place. */
  hasRoomToMove(bytes: number): Promise<boolean>;
  /** Makes a part of the reserve available; false if the reserve is used up. */
  giveUp(): Promise<boolean>;
}

export interface ExtentWrites {
  /**
   * Stores a body in one pass and resolves once its bytes are durable. The extents written to stay
   * pinned until `release`. If the body breaks off, the call fails and pins nothing.
   */
  write(body: Body, taps?: Taps): Promise<Written>;
}

/** What a write computes or shows of a body's bytes while it stores them. */
export interface Taps {
  readonly crc64: boolean;
  readonly tap: Tap | null;
}

export const NO_TAPS: Taps = { crc64: false, tap: null };

/**
 * Sees all bytes of a body in order, in the engine's buffers. These bytes do not change until the
 * returned promise resolves; further calls may come before that. If the tap fails, the write fails.
 */
export type Tap = (parts: readonly Bytes[]) => void | Promise<void>;

/** Where consecutive bytes of a body are stored. */
export interface Address {
  readonly extent: number;
  readonly offset: number;
  /** The number of the body's bytes. */
  readonly length: number;
  /** The space they take in the extent, including checksums. */
  readonly bytesOnDisk: number;
  /** The engine's own checksum, which it verifies when it reads the bytes. */
  readonly checksum: number;
}

/**
 * Whether both addresses mean the same bytes. A place is not written twice while a process runs,
 * since extent numbers are not used again.
 */
export function isSamePlace(one: Address, other: Address): boolean {
  return one.extent === other.extent && one.offset === other.offset;
}

/** Keeps extents from being freed until `release`. */
export interface Pin {
  /** May be called more than once. */
  release(): void;
}

/** A stored body. Its extents stay pinned until `release`. */
export interface Written extends Pin {
  /** In the order of the body's bytes. */
  readonly addresses: readonly Address[];
  /** Null unless the taps ask for it. */
  readonly crc64: Bytes | null;
}

export interface ExtentInfo {
  readonly extent: number;
  readonly bytesOnDisk: number;
  /** Whether bodies may still be written to it. An extent that is not open never grows. */
  readonly open: boolean;
  /** Whether an upload or a reader pins it. */
  readonly pinned: boolean;
}

/**
 * The end of the last bytes in use, in the highest extent in use. An engine that starts on existing
 * files may overwrite everything after it, and gives higher numbers to the extents that it adds.
 */
export interface EndOfUse {
  readonly extent: number;
  readonly offset: number;
}
