import type { ExtentInfo } from "../../store/extents.ts";

/** Extents that are remembered although nobody uses them: they save requests for their size. */
const REMEMBERED_MAX = 10_000;

/**
 * - live: it may have bytes in use.
 * - removed: none of its bytes are in use, but readers elsewhere may have begun before that.
 * - due: it is to be deleted as soon as this process does not pin it.
 * - deleted: its object is gone, or a request to delete it is under way.
 */
type State = "live" | "removed" | "due" | "deleted";

interface Known {
  bytes: number;
  pins: number;
  isOpen: boolean;
  state: State;
}

/**
 * What a process knows of extents. There may be very many objects, so it forgets those that are
 * neither open nor pinned nor to be deleted, the oldest first.
 */
export class KnownExtents {
  readonly #extents = new Map<number, Known>();
  readonly #rememberedMax: number;

  constructor(rememberedMax = REMEMBERED_MAX) {
    this.#rememberedMax = rememberedMax;
  }

  /** Adds an extent to which bodies may be added. */
  begin(extent: number): void {
    this.#of(extent).isOpen = true;
  }

  /** Notes the size of an extent, which does not change any more. */
  seal(extent: number, bytes: number): void {
    const known = this.#of(extent);
    known.isOpen = false;
    known.bytes = bytes;
  }

  pin(extent: number): void {
    this.#of(extent).pins++;
  }

  release(extent: number): void {
    this.#of(extent).pins--;
  }

  isPinned(extent: number): boolean {
    return (this.#extents.get(extent)?.pins ?? 0) > 0;
  }

  setState(extent: number, state: State): void {
    const known = this.#of(extent);
    known.state = state;
    known.isOpen = false;
  }

  stateOf(extent: number): State {
    return this.#extents.get(extent)?.state ?? "live";
  }

  /** Undefined for an extent that is unknown, or of unknown size, or is not live. */
  info(extent: number): ExtentInfo | undefined {
    const known = this.#extents.get(extent);
    return known === undefined ? undefined : infoOf(extent, known);
  }

  /** Live extents, in the order of their numbers. */
  list(): ExtentInfo[] {
    const infos = [...this.#extents].flatMap(([extent, known]) => infoOf(extent, known) ?? []);
    return infos.sort((one, other) => one.extent - other.extent);
  }

  /** Extents that are to be deleted, and are not pinned. */
  toDelete(): number[] {
    return [...this.#extents]
      .filter(([, { state, pins }]) => state === "due" && pins === 0)
      .map(([extent]) => extent);
  }

  #of(extent: number): Known {
    const found = this.#extents.get(extent);
    if (found !== undefined) return found;
    const known: Known = { bytes: 0, pins: 0, isOpen: false, state: "live" };
    this.#extents.set(extent, known);
    if (this.#extents.size > this.#rememberedMax) this.#forgetOldest(extent);
    return known;
  }

  #forgetOldest(except: number): void {
    for (const [extent, { pins, isOpen, state }] of this.#extents) {
      const isNeeded = pins > 0 || isOpen || state === "removed" || state === "due";
      if (isNeeded || extent === except) continue;
      this.#extents.delete(extent);
      return;
    }
  }
}

function infoOf(extent: number, { bytes, pins, isOpen, state }: Known): ExtentInfo | undefined {
  if (state !== "live" || (bytes === 0 && !isOpen)) return undefined;
  return { extent, bytesOnDisk: bytes, open: isOpen, pinned: pins > 0 };
}
