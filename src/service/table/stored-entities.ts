import { KeyReader, key, keyAfter, SPACE } from "../../base/keys.ts";
import type { View } from "../../store/store.ts";
import { objectName, type StoredObjects } from "../shared/stored-objects.ts";
import { decodeTable } from "./records.ts";

export const STORED_ENTITIES: StoredObjects = {
  spaces: [SPACE.table, SPACE.entity],
  nameOf(view, found) {
    const parts = new KeyReader(found);
    if (found[0] === SPACE.table) return objectName("table", parts.text(), parts.text());
    return objectName("entity", tableOf(view, parts.u64()), parts.ordinal(), parts.ordinal());
  },
  contentOf: () => null,
};

/** `account/table` */
function tableOf(view: View, id: bigint): string {
  const all = key(SPACE.table);
  const options = { limit: Number.POSITIVE_INFINITY, skipsDamaged: true };
  const found = view
    .range(all, keyAfter(all), options)
    .find(({ value }) => decodeTable(value).id === id);
  if (found === undefined) return `table ${id}`;
  return `${new KeyReader(found.key).text()}/${decodeTable(found.value).name}`;
}
