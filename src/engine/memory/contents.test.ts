import { ManualClock } from "../../base/clock.ts";
import { contentUsesContract, growingUsesContract } from "../../content/content-uses.contract.ts";
import { ContentsFixture } from "../../content/contents.fixture.ts";
import {
  CONTENTS_EXTENT_BYTES,
  contentsContract,
  type OpenContents,
} from "../../store/contents.contract.ts";
import { contentsModelContract } from "../../store/contents-model.contract.ts";
import { contentsRacesContract } from "../../store/contents-races.contract.ts";
import { listDraftContract } from "../../store/list-draft.contract.ts";
import { sealedContentsContract } from "../../store/sealed-contents.contract.ts";
import { MemoryExtents } from "./extents.ts";
import { MemoryStore } from "./store.ts";

const START_MS = 1_700_000_000_000;

const open: OpenContents = async (_t, wrap = (extents) => extents) =>
  new ContentsFixture(
    new MemoryStore(new ManualClock(START_MS)),
    wrap(new MemoryExtents(CONTENTS_EXTENT_BYTES)),
  );

contentsContract("memory", open);
contentUsesContract("memory", open);
growingUsesContract("memory", open);
contentsRacesContract("memory", open);
listDraftContract("memory", open);
sealedContentsContract("memory", open);
contentsModelContract("memory", 5, open);
