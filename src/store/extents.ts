import type { BufferOwner } from "../base/borrowed-buffer.ts";
import type { Body, Bytes } from "../base/bytes.ts";

/**
 * Bulk bytes: written once, never changed, found again by address. What an engine promises is
 * checked in `extents.contract.ts`. Which bytes are alive is not known here but in the store
 * (see `contents.ts`).
 */
export interface Extents extends ExtentWrites {
  /**
   * Holds extents so that a owner finds their bytes until `release`, even if they are removed
   * meanwhile. Synchronous, so that it can be called where an address is read. Throws "damaged" if
   * one of them is not there.
   */
  pin(extents: Iterable<number>): Pin;
  /** Lends bytes of one held address, checked against their checksums; "damaged" otherwise. */
  owner(at: Address, from: number, length: number): BufferOwner;
  /** The highest number that an extent has had so far. */
  readonly lastExtent: number;
  /** Every extent there is, oldest first, with the bytes it takes on disk. */
  list(): readonly ExtentInfo[];
  /** Stops writing to this extent; later bodies go elsewhere. */
  seal(extent: number): void;
  /**
   * Gives an extent's space back once nobody holds it, or keeps it for the extent that is added next.
   * Nothing alive lies in it, as the caller knows.
   */
  remove(extent: number): Promise<void>;
  /** Gives back what is kept. */
  trim(): Promise<void>;
  /** Engines whose space can run out let the sweeper know. */
  readonly space?: ScarceSpace | undefined;
  close(): Promise<void>;
}

/** Space of which some is kept for a time when there is no other. */
export interface ScarceSpace {
  /** Then nothing is kept for later, and more is moved to get less back. */
  readonly isShort: boolean;
  /** Whether so many living bytes can be written again before their old place is free. */
  hasRoomToMove(bytes: number): Promise<boolean>;
  /** Makes some of what is kept available; false if nothing is left of it. */
  giveUp(): Promise<boolean>;
}

export interface ExtentWrites {
  /**
   * Stores a body in one pass and resolves once its bytes are durable. The extents written to are
   * held until `release` is called. If the sender stops short, nothing stays held.
   */
  write(body: Body, look?: Taps): Promise<Written>;
}

/** What is wanted of a body's bytes while they pass. */
export interface Taps {
  readonly crc64: boolean;
  readonly tap: Tap | null;
}

export const NO_TAPS: Taps = { crc64: false, tap: null };

/**
 * Sees all bytes of a body, in their order, where the engine has gathered them. They stay as they are
 * until it is done with them; more may be shown meanwhile. The write fails if it fails.
 */
export type Tap = (parts: readonly Bytes[]) => void | Promise<void>;

/** Where some bytes of a body lie. */
export interface Address {
  readonly extent: number;
  readonly offset: number;
  /** Counts the body's bytes. */
  readonly length: number;
  /** What they take in the extent, with checksums and all. */
  readonly bytesOnDisk: number;
  /** What an engine wants to be told of the bytes when they are read. */
  readonly checksum: number;
}

/**
 * Whether the same bytes are meant: as long as a process runs, nothing else comes to lie where
 * something has been, since numbers of extents are not used again.
 */
export function isSamePlace(one: Address, other: Address): boolean {
  return one.extent === other.extent && one.offset === other.offset;
}

export interface Pin {
  /** Calling it again changes nothing. */
  release(): void;
}

export interface Written extends Pin {
  /** In the order of the body. */
  readonly addresses: readonly Address[];
  /** If it was asked for. */
  readonly crc64: Bytes | null;
}

export interface ExtentInfo {
  readonly extent: number;
  readonly bytesOnDisk: number;
  /** Bodies are still written to it. Extents that are not open never grow again. */
  readonly open: boolean;
  /** Held by uploads that are not named yet, or by readers. */
  readonly pinned: boolean;
}

/**
 * The end of what is in use in the last extent in use. An engine that starts on old files may write
 * over everything behind it, and gives extents it adds higher numbers.
 */
export interface EndOfUse {
  readonly extent: number;
  readonly offset: number;
}
