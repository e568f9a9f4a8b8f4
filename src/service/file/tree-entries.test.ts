import assert from "node:assert/strict";
import { test } from "node:test";
import { slicesDuring } from "../../base/fair-queue.fixture.ts";
import { Files } from "./files.fixture.ts";
import { listDirectoriesAndFiles } from "./list-directories-and-files.ts";
import { setFileMetadata } from "./set-file-metadata.ts";
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

test("a list of files with much metadata takes many small bodies, and has each file once", async () => {
  const files = await Files.open();
  await files.createDirectory("dir");
  const metadata = [["name", "x".repeat(8_000)]] as const;
  for (let at = 0; at < 100; at++) {
    await files.create(`dir/${at}`);
    await setFileMetadata(files.context, { ...files.at(`dir/${at}`), metadata });
  }
  const asked = { ...files.at("dir"), prefix: "", after: "", resultsMax: 5_000 };
  const names = new Set<string>();
  const slices = await slicesDuring(async () => {
    for await (const { items } of listDirectoriesAndFiles(files.context, asked)) {
      for (const { item } of items) {
        names.add(item.name);
        // No list shows it, and decoding it would take most of the time.
        assert.equal("metadata" in item ? item.metadata : null, null);
      }
    }
  });
  assert.equal(names.size, 100);
  assert.ok(slices >= 4, `${slices} slices`);
});
