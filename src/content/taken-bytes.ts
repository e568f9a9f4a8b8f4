import { type Bytes, NO_BYTES } from "../base/bytes.ts";
import type { Taken } from "../store/content.ts";
import type { Computed } from "./content-digests.ts";
import type { StoredLeaf } from "./content-records.ts";

/** The leaf of bytes that are stored inline. */
export const NO_LEAF: StoredLeaf = { addresses: [], nonce: NO_BYTES };

/** What `take` returns: inline bytes, or addresses in pinned extents. */
export class TakenBytes implements Taken {
  readonly length: number;
  readonly md5: Bytes | null;
  readonly crc64: Bytes | null;
  readonly #inline: Bytes | null;
  readonly #leaf: StoredLeaf;
  readonly #release: () => void;
  /** The contents that were made of them. Their transactions may have failed or run again. */
  readonly contentIds = new Set<bigint>();
  #released = false;

  constructor(
    length: number,
    { md5, crc64 }: Computed,
    inline: Bytes | null,
    leaf: StoredLeaf,
    release: () => void,
  ) {
    this.length = length;
    this.md5 = md5;
    this.crc64 = crc64;
    this.#inline = inline;
    this.#leaf = leaf;
    this.#release = release;
  }

  get inline(): Bytes | null {
    return this.#inline;
  }

  /** Where the bytes are. Fails after `release`, since the sweeper may have freed them. */
  stored(): { inline: Bytes | null; leaf: StoredLeaf } {
    if (this.#released) throw new Error("taken bytes were released before they were kept");
    return { inline: this.#inline, leaf: this.#leaf };
  }

  /** The same bytes, with digests that were computed elsewhere. */
  withDigests(computed: Computed): TakenBytes {
    return new TakenBytes(this.length, computed, this.#inline, this.#leaf, this.#release);
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#release();
  }
}
