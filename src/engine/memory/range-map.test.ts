import { ManualClock } from "../../base/clock.ts";
import {
  appendedEntriesContract,
  appendedInPlaceContract,
} from "../../content/appended-entries.contract.ts";
import { ContentsFixture } from "../../content/contents.fixture.ts";
import { CONTENTS_EXTENT_BYTES, type OpenContents } from "../../store/contents.contract.ts";
import { rangeMapContract } from "../../store/range-map.contract.ts";
import { rangeMapModelContract } from "../../store/range-map-model.contract.ts";
import { replacedMapContract } from "../../store/replaced-map.contract.ts";
import { MemoryExtents } from "./extents.ts";
import { MemoryStore } from "./store.ts";

const open: OpenContents = async () =>
  new ContentsFixture(
    new MemoryStore(new ManualClock(1_700_000_000_000)),
    new MemoryExtents(CONTENTS_EXTENT_BYTES),
  );

rangeMapContract("memory", open);
replacedMapContract("memory", open);
appendedEntriesContract("memory", open);
appendedInPlaceContract("memory", open);
rangeMapModelContract("memory", 5, open);
