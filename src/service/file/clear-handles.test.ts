import assert from "node:assert/strict";
import { test } from "node:test";
import { DELETE, READ, WRITE } from "../../rules/share-mode.ts";
import { beginEpoch, clearHandles } from "./clear-handles.ts";
import { getFileProperties } from "./get-file-properties.ts";
import { lockRanges } from "./lock-ranges.ts";
import { ALL, Files, refused } from "./opens.fixture.ts";

test("the next process ends the opens and locks of a process that is gone", async () => {
  const files = await Files.open();
  await files.create("file", 10);
  const mode = { access: READ | WRITE, share: 0 };
  const handle = await files.open("file", { mode });
  const range = { offset: 0n, length: 10n, isExclusive: true };
  await lockRanges(files.context, { ...handle, ranges: [range] });
  for (let others = 0; others < 250; others++) await files.open("");
  await assert.rejects(files.write("file", 0, "x"), refused("SharingViolation"));

  const own = await beginEpoch(files.context);
  await clearHandles(files.context, (_view, epoch) => epoch === own);
  assert.equal(await files.recordsOfOpens(), 0);
  await files.write("file", 0, "x");
});

test("items pending deletion are deleted, and items open in this process stay", async () => {
  const files = await Files.open();
  await files.create("file");
  await files.create("other");
  const deleting = { mode: { access: DELETE, share: ALL } };
  await files.mark(await files.open("file", deleting), true);
  await files.open("other", { ...deleting, deletesOnClose: true });
  const epoch = await beginEpoch(files.context);
  await files.create("mine");
  await files.open("mine", { opener: { epoch, sessionId: 1n, clientIp: "" } });
  await clearHandles(files.context, (_view, one) => one === epoch);
  const gone = refused("ResourceNotFound");
  await assert.rejects(getFileProperties(files.context, files.at("file")), gone);
  await assert.rejects(getFileProperties(files.context, files.at("other")), gone);
  assert.equal(await files.recordsOfOpens(), 2);
});
