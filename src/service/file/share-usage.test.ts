import assert from "node:assert/strict";
import { test } from "node:test";
import { FILE_BYTES_MAX, GIB, SHARE_QUOTA_GIB_DEFAULT } from "../../base/limits.ts";
import { DELETE } from "../../rules/share-mode.ts";
import { getShareStats } from "./get-share-stats.ts";
import { ALL, Files, refused } from "./opens.fixture.ts";
import { resizeOpenFile } from "./set-open-item.ts";
import { writeOpenFile } from "./write-open-file.ts";

const EVERYTHING = { mode: { access: ALL, share: ALL } };

async function used(files: Files): Promise<number> {
  return (await getShareStats(files.context, files.share())).usedBytes;
}

test("an open file cannot grow beyond the quota either", async () => {
  const files = await Files.open();
  await files.create("large", FILE_BYTES_MAX);
  const left = SHARE_QUOTA_GIB_DEFAULT * GIB - FILE_BYTES_MAX;
  const handle = await files.open("large", EVERYTHING);
  const other = await files.open("other", { ...EVERYTHING, disposition: "create" });
  const write = (from: number) => {
    const bytes = Buffer.from("text");
    return writeOpenFile(files.context, { ...other, from, bytes, preservesWritten: false });
  };
  const resize = (length: number) =>
    resizeOpenFile(files.context, { ...other, length, neverGrows: false, preservesWritten: false });
  await assert.rejects(write(left - 3), refused("ShareSizeLimitReached"));
  await assert.rejects(resize(left + 1), refused("ShareSizeLimitReached"));
  assert.equal(await used(files), FILE_BYTES_MAX);
  await write(left - 4);
  assert.equal(await used(files), SHARE_QUOTA_GIB_DEFAULT * GIB);
  await resizeOpenFile(files.context, {
    ...handle,
    length: 10,
    neverGrows: false,
    preservesWritten: false,
  });
  await write(left);
  assert.equal(await used(files), 10 + left + 4);
});

test("emptied and deleted files no longer count", async () => {
  const files = await Files.open();
  await files.create("file", 1_000);
  await files.close(await files.open("file", { ...EVERYTHING, disposition: "overwrite" }));
  assert.equal(await used(files), 0);
  await files.create("file", 2_000);
  assert.equal(await used(files), 2_000);
  const deleter = { mode: { access: DELETE, share: ALL }, deletesOnClose: true };
  await files.close(await files.open("file", deleter));
  assert.equal(await used(files), 0);
});
