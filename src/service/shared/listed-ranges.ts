import { fairQueue } from "../../base/fair-queue.ts";
import { Fault } from "../../base/fault.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { Range, Ranges } from "../../store/range-map.ts";
import type { Store, View } from "../../store/store.ts";

/** The blob or file that owns the ranges. Its ETag changes whenever they do. */
interface Listed {
  readonly etag: Stamp;
}

export interface ListedRanges<T extends Listed> {
  readonly of: T;
  readonly ranges: readonly Range[];
  /** Where the list continues; null at its end. */
  readonly next: number | null;
}

export interface RangeListing<T extends Listed> {
  readonly resultsMax: number;
  /** Lists ranges from `start`, or from the beginning if it is null, as many as one body should. */
  look(view: View, start: number | null, limit: number): { readonly of: T; readonly more: Ranges };
}

/** Restarts before giving up, so that a fast writer cannot keep a reader busy for ever. */
const LOOKS_MAX = 3;
/** Steps of the final single body. More would block other requests for too long. */
const BODY_STEPS_MAX = 10;

/**
 * Lists the written ranges of a blob or file, all as of one moment. There may be very many: they
 * are listed in steps, which start again if a write comes between. If writes keep coming, one body
 * lists them all, or refuses if they are too many for that.
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

/** Takes one more step and adds it to what has been found. */
function step<T extends Listed>(
  view: View,
  { resultsMax, look }: RangeListing<T>,
  before: ListedRanges<T> | null,
): ListedRanges<T> {
  const ranges = before?.ranges ?? [];
  const { of, more } = look(view, before?.next ?? null, resultsMax - ranges.length);
  return { of, ranges: joined(ranges, more.found), next: more.next };
}

/** Joins two lists of ranges, and the two ranges where they meet if these touch. */
function joined(ranges: readonly Range[], more: readonly Range[]): readonly Range[] {
  const last = ranges.at(-1);
  const [first, ...rest] = more;
  const isJoint = first?.start === last?.end && first?.isCleared === last?.isCleared;
  if (last === undefined || first === undefined || !isJoint) return [...ranges, ...more];
  return [...ranges.slice(0, -1), { ...last, end: first.end }, ...rest];
}
