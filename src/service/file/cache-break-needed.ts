import type { Intrusion } from "../../rules/caching.ts";
import type { CacheOwner } from "./cache-owner.ts";
import type { OpenItem } from "./open-records.ts";

/**
 * Thrown out of a body when clients must first give up caching of a file. It is not a refusal: each
 * front end has one catch, which breaks the caches (`cache-breaks.ts`) and runs the body again.
 */
export class CacheBreakNeeded extends Error {
  readonly item: OpenItem;
  /** The owner whose own cache does not conflict; empty if all do. */
  readonly own: CacheOwner;
  readonly intrusion: Intrusion;

  constructor(item: OpenItem, own: CacheOwner, intrusion: Intrusion) {
    super(`caches of file ${item.id} must be broken first`);
    this.name = "CacheBreakNeeded";
    this.item = item;
    this.own = own;
    this.intrusion = intrusion;
  }
}
