import { fairQueue } from "../../base/fair-queue.ts";
import { Fault } from "../../base/fault.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { Range, Ranges } from "../../store/range-map.ts";
import type { Store, View } from "../../store/store.ts";

/** What is listed: whatever its map belongs to, which gets another ETag when that changes. */
interface Listed {
  readonly etag: Stamp;
}

export interface ListedRanges<T extends Listed> {
  readonly of: T;
  readonly ranges: readonly Range[];
  /** Where the list goes on; null if it does not. */
  readonly next: number | null;
}

export interface RangeListing<T extends Listed> {
  readonly resultsMax: number;
  /** From `start` on, or from where the list begins if it is null: as much as one body should. */
  look(view: View, start: number | null, limit: number): { readonly of: T; readonly more: Ranges };
}

/** A writer that is always faster must not keep a reader going round for ever. */
const LOOKS_MAX = 3;
/** Steps that one body takes in the end. More would hold up everybody. */
const BODY_STEPS_MAX = 10;

/**
 * Where something was written, all as it was at one moment. It may be in very many pieces: they are
 * looked up step by step, beginning anew if they change meanwhile. If they never stand still, they
 * are looked up in one body, unless they are too many for that.
 */
export async function listRangesOf<T extends Listed>(
  store: Store,
  listing: RangeListing<T>,
): Promise<ListedRanges<T>> {
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const found = await lookInSteps(store, listing);
    if (found !== null) return found;
  }
  return store.read((view) => {
    let found = step(view, listing, null);
    for (let steps = 1; goesOn(found, listing); steps++) {
      if (steps === BODY_STEPS_MAX) throw new Fault("ServerBusy");
      found = step(view, listing, found);
    }
    return found;
  });
}

async function lookInSteps<T extends Listed>(
  store: Store,
  listing: RangeListing<T>,
): Promise<ListedRanges<T> | null> {
  let found = await store.read((view) => step(view, listing, null));
  while (goesOn(found, listing)) {
    const before = found;
    await fairQueue.next();
    found = await store.read((view) => step(view, listing, before));
    if (found.of.etag !== before.of.etag) return null;
  }
  return found;
}

function goesOn<T extends Listed>(
  { ranges, next }: ListedRanges<T>,
  { resultsMax }: RangeListing<T>,
): boolean {
  return next !== null && ranges.length < resultsMax;
}

/** One step further than what has been found already. */
function step<T extends Listed>(
  view: View,
  { resultsMax, look }: RangeListing<T>,
  before: ListedRanges<T> | null,
): ListedRanges<T> {
  const ranges = before?.ranges ?? [];
  const { of, more } = look(view, before?.next ?? null, resultsMax - ranges.length);
  return { of, ranges: joined(ranges, more.found), next: more.next };
}

/** Two lists of ranges, of which one may go on where the other ends. */
function joined(ranges: readonly Range[], more: readonly Range[]): readonly Range[] {
  const last = ranges.at(-1);
  const [first, ...rest] = more;
  const isJoint = first?.start === last?.end && first?.isCleared === last?.isCleared;
  if (last === undefined || first === undefined || !isJoint) return [...ranges, ...more];
  return [...ranges.slice(0, -1), { ...last, end: first.end }, ...rest];
}
