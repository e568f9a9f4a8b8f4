import type { PersistentStore } from "../../store/opened-store.contract.ts";
import type { Store } from "../../store/store.ts";
import { readAddress } from "./address.ts";
import type { PostgresServer } from "./postgres-server.fixture.ts";
import { openPostgresStore, type PostgresStoreOptions } from "./store.ts";

/** Opens a store in a schema of its own. */
export async function openTestStore(
  server: PostgresServer,
  options: PostgresStoreOptions = {},
): Promise<PersistentStore> {
  const url = server.url();
  const open = () => openPostgresStore(readAddress(url), options);
  let store: Store = await open();
  return {
    store,
    async reopen() {
      await store.close();
      store = await open();
      return store;
    },
    async dispose() {
      await store.close();
      const { schema } = readAddress(url);
      await server.withClient(url, (client) => client.query(`drop schema ${schema} cascade`));
    },
  };
}
