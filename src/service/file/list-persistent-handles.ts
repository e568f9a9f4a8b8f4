import { key, keyAfter, SPACE } from "../../base/keys.ts";
import type { View } from "../../store/store.ts";
import type { FileContext } from "./context.ts";
import { type HandlePlace, type Persistent, placeOfHandleKey, readHandle } from "./open-records.ts";

const BODY_HANDLES_MAX = 1_000;

export interface PersistentHandle {
  readonly place: HandlePlace;
  readonly cache: Buffer;
  readonly persistent: Persistent;
  /** Marks the process that serves it. */
  readonly epoch: bigint;
}

/** The handles that clients may reclaim after a restart. */
export async function listPersistentHandles(context: FileContext): Promise<PersistentHandle[]> {
  const found: PersistentHandle[] = [];
  const all = key(SPACE.persistentHandle);
  let from = all;
  for (;;) {
    const start = from;
    const page = await context.store.read((view) =>
      view
        .range(start, keyAfter(all), { limit: BODY_HANDLES_MAX })
        .map((note) => ({ key: note.key, handle: handleOf(view, placeOfHandleKey(note.key)) })),
    );
    for (const { handle } of page) if (handle !== null) found.push(handle);
    const last = page.at(-1);
    if (last === undefined || page.length < BODY_HANDLES_MAX) return found;
    from = keyAfter(last.key);
  }
}

function handleOf(view: View, place: HandlePlace): PersistentHandle | null {
  const handle = readHandle(view, place, place.handle);
  if (handle === null || handle.persistent === null) return null;
  const { cache, persistent, epoch } = handle;
  return { place, cache, persistent, epoch };
}
