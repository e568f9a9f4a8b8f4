import { acknowledgeBreak as acknowledge } from "../../rules/caching.ts";
import type { Transaction } from "../../store/store.ts";
import { admitToHandle, type HandleAsked } from "./admit-handle.ts";
import type { CacheOwner } from "./cache-owner.ts";
import { readCache, readLeased } from "./cache-records.ts";
import { type BreakNotice, writeStep } from "./caches.ts";
import type { FileContext, ShareAddress } from "./context.ts";
import type { OpenItem } from "./open-records.ts";
import { readShare } from "./records.ts";

export type AcknowledgeBreak =
  | { readonly kind: "oplock"; readonly of: HandleAsked; readonly state: number }
  | {
      readonly kind: "lease";
      readonly at: ShareAddress;
      readonly owner: CacheOwner;
      readonly state: number;
    };

export type BreakOutcome = "acknowledged" | "unknown" | "not-breaking" | "too-much";

/** Records that a client has given up the caching it was told to give up. */
export async function acknowledgeBreak(
  context: FileContext,
  asked: AcknowledgeBreak,
): Promise<BreakOutcome> {
  const { outcome, notice, cache } = await context.store.transact((tx) => step(tx, asked));
  if (outcome !== "acknowledged" || cache === null) return outcome;
  context.breaks.finish(cache.item, cache.owner);
  if (notice !== null) context.breaks.send(context.store, notice);
  return outcome;
}

interface Stepped {
  readonly outcome: BreakOutcome;
  readonly cache: Place | null;
  readonly notice: BreakNotice | null;
}

interface Place {
  readonly item: OpenItem;
  readonly owner: CacheOwner;
}

function step(tx: Transaction, asked: AcknowledgeBreak): Stepped {
  const place = placeOf(tx, asked);
  const cache = place === null ? null : readCache(tx, place.item, place.owner);
  if (place === null || cache === null) return refused("unknown");
  const next = acknowledge(cache.caching, asked.state);
  if (typeof next === "string") return refused(next);
  return { outcome: "acknowledged", cache: place, notice: writeStep(tx, place.item, cache, next) };
}

function refused(outcome: BreakOutcome): Stepped {
  return { outcome, cache: null, notice: null };
}

function placeOf(tx: Transaction, asked: AcknowledgeBreak): Place | null {
  if (asked.kind === "oplock") {
    const { item, handle } = admitToHandle(tx, asked.of);
    return { item, owner: handle.cache };
  }
  const share = readShare(tx, asked.at);
  const item = share === null ? null : readLeased(tx, share.id, asked.owner);
  return item === null ? null : { item, owner: asked.owner };
}
