import { keyAfter } from "../../base/keys.ts";
import { isExpired } from "../../rules/visibility.ts";
import type { View } from "../../store/store.ts";
import { firstTurnKey, type Turn, turnOfEntry } from "./records.ts";

/** Expired messages that one body may come across: enough to get ahead, few enough to be quick. */
const EXPIRED_MAX = 256;

export interface VisibleTurns {
  readonly turns: readonly Turn[];
  /** In front of the last of them, and of no use any more. */
  readonly expired: readonly Turn[];
  /** False if expired messages kept us from looking any further. */
  readonly isAll: boolean;
}

/** The first `wanted` messages that are visible now. How many others there are does not matter. */
export function visibleTurns(view: View, id: bigint, wanted: number): VisibleTurns {
  const now = view.now();
  const turns: Turn[] = [];
  const expired: Turn[] = [];
  const until = firstTurnKey(id, now + 1);
  for (let from = firstTurnKey(id, 0); ; ) {
    // Twice as far each time while all that is found has expired.
    const limit = wanted - turns.length + expired.length;
    const entries = view.range(from, until, { limit, sparesDamaged: true });
    for (const turn of entries.map(turnOfEntry)) {
      if (isExpired(turn, now)) expired.push(turn);
      else if (turns.length < wanted) turns.push(turn);
    }
    const last = entries.at(-1);
    const isAll = turns.length >= wanted || last === undefined || entries.length < limit;
    if (isAll || expired.length >= EXPIRED_MAX) return { turns, expired, isAll };
    from = keyAfter(last.key);
  }
}
