import { KeyReader, key, keyAfter, SPACE } from "../../base/keys.ts";
import { unlessDamaged, type View } from "../../store/store.ts";
import { objectName, type StoredObjects } from "../shared/stored-objects.ts";
import { queueOfEntry, readSlot } from "./records.ts";

export const STORED_MESSAGES: StoredObjects = {
  spaces: [SPACE.queue, SPACE.message, SPACE.messageSlot, SPACE.messageCount],
  nameOf(view, found) {
    const parts = new KeyReader(found);
    if (found[0] === SPACE.queue) return objectName("queue", parts.text(), parts.text());
    const id = parts.u64();
    const queue = queueOf(view, id);
    if (found[0] === SPACE.message) return objectName("message", queue, parts.text());
    if (found[0] === SPACE.messageCount) return objectName("count of messages of queue", queue);
    const slot = unlessDamaged(() => readSlot(view, id, parts.rest()));
    return objectName("visibility of a message", queue, slot?.messageId ?? "unknown");
  },
  contentOf: () => null,
};

/** `account/queue` */
function queueOf(view: View, id: bigint): string {
  const all = key(SPACE.queue);
  const options = { limit: Number.POSITIVE_INFINITY, skipsDamaged: true };
  const found = view
    .range(all, keyAfter(all), options)
    .find((entry) => queueOfEntry(entry).queue.id === id);
  if (found === undefined) return `queue ${id}`;
  const parts = new KeyReader(found.key);
  return `${parts.text()}/${parts.text()}`;
}
