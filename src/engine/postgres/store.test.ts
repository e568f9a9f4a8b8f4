import { after, before, describe } from "node:test";
import { persistentStoreContract } from "../../store/persistent-store.contract.ts";
import { storeContract } from "../../store/store.contract.ts";
import { PostgresServer, skipWithoutPostgres } from "./postgres-server.fixture.ts";
import { openTestStore } from "./postgres-store.fixture.ts";

const skip = skipWithoutPostgres();

describe("records in PostgreSQL", { skip: skip ?? false }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });
  after(() => server.remove());

  // A body is tried before it joins a group, so that it runs twice at least.
  storeContract("postgres", async (clock) => openTestStore(server, { clock }), {
    runsBodiesOnce: false,
  });
  storeContract(
    "postgres with a cache of a few records",
    async (clock) => openTestStore(server, { clock, cacheBytesMax: 1_000 }),
    { runsBodiesOnce: false },
  );
  persistentStoreContract("postgres", async (clock) => openTestStore(server, { clock }));
});
