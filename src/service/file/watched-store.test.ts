import assert from "node:assert/strict";
import { test } from "node:test";
import { DELETE, READ, WRITE } from "../../rules/share-mode.ts";
import { deleteFile } from "./delete-file.ts";
import { deleteShare } from "./delete-share.ts";
import type { FileChange } from "./file-changes.ts";
import { forceCloseHandles } from "./force-close-handles.ts";
import { leaseFile } from "./lease-file.ts";
import { lockRanges, unlockRanges } from "./lock-ranges.ts";
import { Files, refused } from "./opens.fixture.ts";
import { renameOpenItem } from "./rename-open-item.ts";

const DELETER = { mode: { access: DELETE, share: READ | WRITE | DELETE } };

/** A share, the changes reported of it, and a function that stops the reports. */
async function watched() {
  // Watchers hear at once of the changes at their own front end only.
  const files = await Files.open({ alone: true });
  const { tree } = await files.openDone("");
  const lines: string[] = [];
  const stop = files.store.watch(tree.share, (changes) =>
    lines.push(changes.map(lineOf).join(", ")),
  );
  return { files, lines, stop };
}

function lineOf(change: FileChange): string {
  if (!("at" in change)) return change.kind;
  return `${change.kind} ${change.at.path.join("/")}`;
}

test("a committed change is reported once to the current watchers", async () => {
  const { files, lines, stop } = await watched();
  await files.createDirectory("dir");
  await files.create("dir/file", 3);
  await files.write("dir/file", 0, "abc");
  assert.deepEqual(lines, ["added dir", "added dir/file", "modified dir/file"]);
  stop();
  await files.create("dir/other");
  assert.equal(lines.length, 3);
});

test("refused changes and invisible changes are not reported", async () => {
  const { files, lines } = await watched();
  await files.create("file");
  lines.length = 0;
  await assert.rejects(deleteFile(files.context, files.at("other")), refused("ResourceNotFound"));
  const proposedId = "11111111-1111-4111-8111-111111111111";
  const lease = { action: "acquire", proposedId, isNewId: true, durationSeconds: -1 } as const;
  await leaseFile(files.context, { ...files.at("file"), lease });
  await files.open("file");
  assert.deepEqual(lines, []);
});

test("a file and its directory removed in one transaction are reported with their paths", async () => {
  const { files, lines } = await watched();
  await files.create("file");
  await files.createDirectory("dir");
  const file = await files.open("file", { ...DELETER, deletesOnClose: true });
  await renameOpenItem(files.context, { ...file, path: ["dir", "file"], replaces: false });
  await files.open("dir", { ...DELETER, deletesOnClose: true });
  lines.length = 0;
  await forceCloseHandles(files.context, {
    ...files.at(""),
    handle: null,
    after: null,
    isRecursive: true,
  });
  assert.deepEqual(lines, ["closed, closed, removed dir/file, closed, removed dir"]);
});

test("a file is reported when it is marked for deletion", async () => {
  const { files, lines } = await watched();
  await files.create("file");
  const handle = await files.open("file", DELETER);
  lines.length = 0;
  await files.mark(handle, true);
  await files.close(handle);
  assert.deepEqual(lines, ["doomed", "closed, removed file"]);
});

test("removed handles, locks and shares are reported, however they are removed", async () => {
  const { files, lines } = await watched();
  await files.create("file", 10);
  const handle = await files.open("file");
  const ranges = [{ offset: 0n, length: 5n, isExclusive: true }];
  await lockRanges(files.context, { ...handle, ranges });
  lines.length = 0;
  await unlockRanges(files.context, { ...handle, ranges });
  await lockRanges(files.context, { ...handle, ranges });
  await files.close(handle);
  await deleteShare(files.context, { ...files.share(), snapshots: "refuse" });
  assert.deepEqual(lines, ["unlocked", "closed, unlocked", "shareRemoved"]);
});
