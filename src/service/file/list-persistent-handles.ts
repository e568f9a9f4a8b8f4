import { key, keyAfter, SPACE } from "../../base/keys.ts";
import type { Entry } from "../../store/store.ts";
import type { FileContext } from "./context.ts";
import {
  decodeHandle,
  type HandlePlace,
  type Persistent,
  placeOfHandleKey,
} from "./open-records.ts";

const BODY_HANDLES_MAX = 1_000;

export interface PersistentHandle {
  readonly place: HandlePlace;
  readonly cache: Buffer;
  readonly persistent: Persistent;
}

/** The handles that clients may come back for after a restart. */
export async function listPersistentHandles(context: FileContext): Promise<PersistentHandle[]> {
  const found: PersistentHandle[] = [];
  const all = key(SPACE.handle);
  let from = all;
  for (;;) {
    const start = from;
    const page: Entry[] = await context.store.read((view) =>
      view.range(start, keyAfter(all), { limit: BODY_HANDLES_MAX }),
    );
    for (const entry of page) {
      const { persistent, cache } = decodeHandle(entry.value);
      if (persistent !== null)
        found.push({ place: placeOfHandleKey(entry.key), cache, persistent });
    }
    const last = page.at(-1);
    if (last === undefined || page.length < BODY_HANDLES_MAX) return found;
    from = keyAfter(last.key);
  }
}
