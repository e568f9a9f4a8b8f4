import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HandClock } from "../../base/clock.ts";
import { CONTENTS_EXTENT_BYTES, type OpenContents } from "../../store/contents.contract.ts";
import { ContentsBench } from "../../store/contents.fixture.ts";
import { rangeMapContract } from "../../store/range-map.contract.ts";
import { rangeMapModelContract } from "../../store/range-map-model.contract.ts";
import { replacedMapContract } from "../../store/replaced-map.contract.ts";
import type { StoreError } from "../../store/store.ts";
import { EmbeddedExtents } from "./extents.ts";
import { openEmbeddedStore } from "./store.ts";

const open: OpenContents = async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-maps-"));
  await mkdir(join(folder, "store"));
  await mkdir(join(folder, "extents"));
  const failStop = (error: StoreError) => assert.fail(error);
  const clock = new HandClock(1_700_000_000_000);
  const store = await openEmbeddedStore(join(folder, "store"), clock, failStop);
  const extents = await EmbeddedExtents.open({
    folder: join(folder, "extents"),
    endOfUse: null,
    failStop,
    extentBytesMax: CONTENTS_EXTENT_BYTES,
  });
  t.after(async () => {
    await store.close();
    await extents.close();
    await rm(folder, { recursive: true });
  });
  return new ContentsBench(store, extents);
};

rangeMapContract("embedded", open);
replacedMapContract("embedded", open);
rangeMapModelContract("embedded", 1, open);
