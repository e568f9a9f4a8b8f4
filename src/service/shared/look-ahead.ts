import type { Body } from "../../base/bytes.ts";
import { KIB } from "../../base/limits.ts";
import type { Store, View } from "../../store/store.ts";

/** What a sender has on its way, and we have received, before anybody could answer. */
const ON_ITS_WAY_BYTES_MAX = 64 * KIB;

/**
 * A cheap refusal before a body is taken. It proves nothing: the transaction behind the body
 * decides. A small body that is on its way already is taken sooner than looked ahead of.
 */
export function lookAhead(
  store: Store,
  body: Body,
  admit: (view: View) => unknown,
): Promise<unknown> | undefined {
  const isOnItsWay = body.length <= ON_ITS_WAY_BYTES_MAX && body.isHeldBack !== true;
  return isOnItsWay ? undefined : store.read(admit);
}
