import type { Intrusion } from "../../rules/caching.ts";
import type { CacheOwner } from "./cache-records.ts";
import type { OpenItem } from "./open-records.ts";

/**
 * Thrown out of a body: clients keep something of a file that they have to give up first. No refusal:
 * whoever runs the body makes way (`cache-breaks.ts`) and runs it again.
 */
export class CachesInTheWay extends Error {
  readonly item: OpenItem;
  /** Whose own does not count; empty if all count. */
  readonly own: CacheOwner;
  readonly intrusion: Intrusion;

  constructor(item: OpenItem, own: CacheOwner, intrusion: Intrusion) {
    super(`file ${item.id} is in the caches of others`);
    this.name = "CachesInTheWay";
    this.item = item;
    this.own = own;
    this.intrusion = intrusion;
  }
}
