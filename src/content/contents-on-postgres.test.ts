import { after, before, describe, type TestContext } from "node:test";
import { ManualClock } from "../base/clock.ts";
import { MemoryExtents } from "../engine/memory/extents.ts";
import { PostgresServer, skipWithoutPostgres } from "../engine/postgres/postgres-server.fixture.ts";
import { openTestStore } from "../engine/postgres/postgres-store.fixture.ts";
import {
  CONTENTS_EXTENT_BYTES,
  contentsContract,
  type OpenContents,
} from "../store/contents.contract.ts";
import { contentsModelContract } from "../store/contents-model.contract.ts";
import { contentsRacesContract } from "../store/contents-races.contract.ts";
import { listDraftContract } from "../store/list-draft.contract.ts";
import { rangeMapContract } from "../store/range-map.contract.ts";
import { rangeMapModelContract } from "../store/range-map-model.contract.ts";
import { replacedMapContract } from "../store/replaced-map.contract.ts";
import { sealedContentsContract } from "../store/sealed-contents.contract.ts";
import { appendedEntriesContract } from "./appended-entries.contract.ts";
import { contentUsesContract } from "./content-uses.contract.ts";
import { ContentsFixture } from "./contents.fixture.ts";

const skip = skipWithoutPostgres();
const ENGINE = "postgres";

describe("contents whose records are in PostgreSQL", { skip: skip ?? false }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });
  after(() => server.remove());

  const open: OpenContents = async (t: TestContext, wrap = (extents) => extents) => {
    const clock = new ManualClock(1_700_000_000_000);
    const { store, dispose } = await openTestStore(server, { clock });
    t.after(dispose);
    return new ContentsFixture(store, wrap(new MemoryExtents(CONTENTS_EXTENT_BYTES)));
  };

  contentsContract(ENGINE, open);
  contentUsesContract(ENGINE, open);
  contentsRacesContract(ENGINE, open);
  listDraftContract(ENGINE, open);
  sealedContentsContract(ENGINE, open);
  contentsModelContract(ENGINE, 1, open);
  replacedMapContract(ENGINE, open);
  rangeMapContract(ENGINE, open);
  appendedEntriesContract(ENGINE, open);
  rangeMapModelContract(ENGINE, 1, open);
});
