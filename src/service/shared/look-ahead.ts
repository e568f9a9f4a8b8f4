import type { Body } from "../../base/bytes.ts";
import { KIB } from "../../base/limits.ts";
import type { Store, View } from "../../store/store.ts";

/** Bytes that a sender may have sent before it could receive an answer. */
const ON_ITS_WAY_BYTES_MAX = 64 * KIB;

/**
 * Runs a cheap check before a body is received, to refuse early. The transaction after the body
 * decides. Small bodies skip the check: most of their bytes have already arrived.
 */
export function lookAhead(
  store: Store,
  body: Body,
  admit: (view: View) => unknown,
): Promise<unknown> | undefined {
  const isOnItsWay = body.length <= ON_ITS_WAY_BYTES_MAX && body.isHeldBack !== true;
  return isOnItsWay ? undefined : store.read(admit);
}
