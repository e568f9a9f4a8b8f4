import { join } from "node:path";
import { readLokiFile } from "./loki-file.ts";

/** The files of a data folder of Azurite. */
export function azuriteFiles(folder: string) {
  const database = (name: string) => join(folder, `__azurite_db_${name}__.json`);
  return {
    blobs: database("blob"),
    blobExtents: database("blob_extent"),
    blobBytes: join(folder, "__blobstorage__"),
    queues: database("queue"),
    queueExtents: database("queue_extent"),
    queueBytes: join(folder, "__queuestorage__"),
    tables: database("table"),
  };
}

/** The collections that belong to one account each, by the field with its name. */
const OWNED = [
  "$SERVICES_COLLECTION$",
  "$CONTAINERS_COLLECTION$",
  "$QUEUES_COLLECTION$",
  "$TABLES_COLLECTION$",
];

/** The accounts that have something in the folder. */
export async function azuriteAccounts(folder: string): Promise<string[]> {
  const { blobs, queues, tables } = azuriteFiles(folder);
  const names = new Set<string>();
  for (const file of [blobs, queues, tables]) {
    for await (const { collection, document } of readLokiFile(file)) {
      if (!OWNED.includes(collection)) continue;
      const name = document.accountName ?? document.account;
      if (typeof name === "string") names.add(name);
    }
  }
  return [...names].sort();
}
