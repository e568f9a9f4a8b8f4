import assert from "node:assert/strict";
import { test } from "node:test";
import { Files } from "./files.fixture.ts";
import { listDirectoriesAndFiles } from "./list-directories-and-files.ts";
import { snapshotShare } from "./snapshot-share.ts";

test("entries newer than the snapshot are skipped in several bodies, and no other entry is missed", async () => {
  const files = await Files.open();
  await files.createDirectory("dir");
  await files.create("dir/Last");
  const { snapshot } = await snapshotShare(files.context, { ...files.share(), metadata: null });
  for (let index = 0; index < 2_500; index++) await files.create(`dir/${index}`);
  const asked = { ...files.at("dir", snapshot), prefix: "", after: "", resultsMax: 10 };
  const pages: string[][] = [];
  for await (const { items } of listDirectoriesAndFiles(files.context, asked)) {
    pages.push(items.map(({ item }) => item.name));
  }
  assert.deepEqual(pages.flat(), ["Last"]);
  assert.equal(pages.length, 3);
});
