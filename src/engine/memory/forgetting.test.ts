import { ManualClock } from "../../base/clock.ts";
import {
  appendedEntriesContract,
  appendedInPlaceContract,
} from "../../content/appended-entries.contract.ts";
import { contentUsesContract, growingUsesContract } from "../../content/content-uses.contract.ts";
import { ContentsFixture } from "../../content/contents.fixture.ts";
import {
  CONTENTS_EXTENT_BYTES,
  contentsContract,
  type OpenContents,
} from "../../store/contents.contract.ts";
import { contentsModelContract } from "../../store/contents-model.contract.ts";
import { contentsRacesContract } from "../../store/contents-races.contract.ts";
import { ForgettingStore } from "../../store/forgetting-store.fixture.ts";
import { listDraftContract } from "../../store/list-draft.contract.ts";
import type { OpenStore } from "../../store/opened-store.contract.ts";
import { rangeMapContract } from "../../store/range-map.contract.ts";
import { rangeMapModelContract } from "../../store/range-map-model.contract.ts";
import { replacedMapContract } from "../../store/replaced-map.contract.ts";
import { sealedContentsContract } from "../../store/sealed-contents.contract.ts";
import { storeContract } from "../../store/store.contract.ts";
import { MemoryExtents } from "./extents.ts";
import { MemoryStore } from "./store.ts";

const ENGINE = "memory, where every body runs again,";

const openWith =
  (guesses: boolean): OpenContents =>
  async (_t, wrap = (extents) => extents) =>
    new ContentsFixture(
      new ForgettingStore(new MemoryStore(new ManualClock(1_700_000_000_000)), guesses),
      wrap(new MemoryExtents(CONTENTS_EXTENT_BYTES)),
    );
const open = openWith(false);
const openOnGuesses = openWith(true);

const openStore: OpenStore = async (clock) => {
  const store = new ForgettingStore(new MemoryStore(clock), true);
  return { store, dispose: () => store.close() };
};

storeContract(ENGINE, openStore, { runsBodiesOnce: false });

contentsContract(ENGINE, openOnGuesses);
contentUsesContract(ENGINE, openOnGuesses);
growingUsesContract(ENGINE, open);
contentsRacesContract(ENGINE, open);
listDraftContract(ENGINE, openOnGuesses);
sealedContentsContract(ENGINE, openOnGuesses);
contentsModelContract(ENGINE, 5, open);
rangeMapContract(ENGINE, open);
replacedMapContract(ENGINE, open);
appendedEntriesContract(ENGINE, open);
appendedInPlaceContract(ENGINE, open);
rangeMapModelContract(ENGINE, 5, open);
