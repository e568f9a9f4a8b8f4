import { after, type TestContext, test } from "node:test";
import { ManualClock } from "../../src/base/clock.ts";
import {
  appendedEntriesContract,
  appendedInPlaceContract,
} from "../../src/content/appended-entries.contract.ts";
import { contentUsesContract } from "../../src/content/content-uses.contract.ts";
import { ContentsFixture } from "../../src/content/contents.fixture.ts";
import { MemoryStore } from "../../src/engine/memory/store.ts";
import { S3Extents } from "../../src/engine/s3/extents.ts";
import { machineFor } from "../../src/machine/machine.fixture.ts";
import {
  CONTENTS_EXTENT_BYTES,
  contentsContract,
  type OpenContents,
} from "../../src/store/contents.contract.ts";
import { contentsModelContract } from "../../src/store/contents-model.contract.ts";
import { contentsRacesContract } from "../../src/store/contents-races.contract.ts";
import { CONTRACT_EXTENT_BYTES, extentsContract } from "../../src/store/extents.contract.ts";
import { listDraftContract } from "../../src/store/list-draft.contract.ts";
import { rangeMapContract } from "../../src/store/range-map.contract.ts";
import { rangeMapModelContract } from "../../src/store/range-map-model.contract.ts";
import { replacedMapContract } from "../../src/store/replaced-map.contract.ts";
import { sealedContentsContract } from "../../src/store/sealed-contents.contract.ts";
import { bucketTests } from "./buckets.ts";
import { commandTests } from "./command.ts";
import { faultTests } from "./faults.ts";
import { lifeTests } from "./lives.ts";
import {
  type ObjectStore,
  objectsAt,
  skipWithoutObjectStore,
  startObjectStore,
} from "./object-store.ts";

const START_MS = 1_700_000_000_000;

// One file, because the object store is started once for all of its tests.
const skip = skipWithoutObjectStore();
if (skip !== null) test("extents on a real S3 server", { skip });
else {
  const store = await startObjectStore();
  after(() => store.stop());
  runContracts(store);
  faultTests(store);
  lifeTests(store);
  commandTests(store);
  bucketTests(store);
}

function runContracts(store: ObjectStore): void {
  const openExtents = async (t: TestContext, extentBytesMax: number) => {
    const { extents: objects } = await objectsAt(store.newPlace());
    const extents = new S3Extents({ objects, machine: machineFor(t), frontEnd: 7, extentBytesMax });
    t.after(() => extents.close());
    return extents;
  };
  const open: OpenContents = async (t, wrap = (extents) => extents) =>
    new ContentsFixture(
      new MemoryStore(new ManualClock(START_MS)),
      wrap(await openExtents(t, CONTENTS_EXTENT_BYTES)),
    );
  extentsContract("s3", (t) => openExtents(t, CONTRACT_EXTENT_BYTES));
  contentsContract("s3", open);
  contentUsesContract("s3", open);
  contentsRacesContract("s3", open, 60_000);
  listDraftContract("s3", open);
  sealedContentsContract("s3", open);
  contentsModelContract("s3", 2, open);
  rangeMapContract("s3", open);
  replacedMapContract("s3", open);
  appendedEntriesContract("s3", open);
  appendedInPlaceContract("s3", open);
  rangeMapModelContract("s3", 2, open);
}
