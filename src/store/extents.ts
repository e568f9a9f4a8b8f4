import type { Body, Bytes } from "../base/bytes.ts";

/**
 * Bulk bytes: written once, never changed, found again by address. What an engine promises is
 * checked in `extents.contract.ts`. Which bytes are alive is not known here but in the store
 * (see `contents.ts`).
 */
export interface Extents {
  /**
   * Stores a body in one pass and resolves once its bytes are durable. Each part is also shown to
   * `see`, in order, for hashing. The extents written to are held until `release` is called.
   */
  write(body: Body, see: (part: Bytes) => void): Promise<Written>;
  /**
   * Holds extents so that `parts` finds their bytes until `release`, even if they are removed
   * meanwhile. Synchronous, so that it can be called where an address is read.
   */
  hold(extents: readonly number[]): Hold;
  /** Bytes of one held address, checked against their checksums; rejects with "damaged" otherwise. */
  parts(at: Address, from: number, length: number): AsyncIterable<Bytes>;
  /** Every extent there is, with the bytes it takes on disk, and whether it is still written to. */
  list(): readonly ExtentInfo[];
  /** Stops writing to this extent; later bodies go elsewhere. */
  seal(extent: number): void;
  /** Gives an extent's space back. The caller knows that nothing alive lies in it. */
  remove(extent: number): Promise<void>;
  close(): Promise<void>;
}

/** Where some bytes of a body lie. `length` counts the body's bytes, not those on disk. */
export interface Address {
  readonly extent: number;
  readonly offset: number;
  readonly length: number;
}

export interface Hold {
  release(): void;
}

export interface Written extends Hold {
  /** In the order of the body. */
  readonly addresses: readonly Address[];
}

export interface ExtentInfo {
  readonly extent: number;
  readonly bytesOnDisk: number;
  readonly open: boolean;
  /** Held by uploads that are not named yet, or by readers. */
  readonly held: boolean;
}
