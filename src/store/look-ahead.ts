import type { Body } from "../base/bytes.ts";
import { INLINE_BYTES_MAX } from "./contents.ts";
import type { Store, View } from "./store.ts";

/**
 * A cheap refusal before a body is taken. It proves nothing: the transaction behind the body
 * decides. A small body that is on its way already is taken sooner than looked ahead of.
 */
export async function lookAhead(
  store: Store,
  body: Body,
  admit: (view: View) => unknown,
): Promise<void> {
  if (body.length > INLINE_BYTES_MAX || body.isHeldBack === true) await store.read(admit);
}
