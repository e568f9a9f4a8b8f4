import assert from "node:assert/strict";
import { test } from "node:test";
import { slicesDuring } from "../../base/fair-queue.fixture.ts";
import { ForgettingStore } from "../../store/forgetting-store.fixture.ts";
import { IN_MEMORY } from "../shared/service-data.fixture.ts";
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

test("a list over many short pages that are cached takes few rounds of an engine that fetches", async () => {
  const files = await Files.open(IN_MEMORY);
  await files.createDirectory("dir");
  const names = Array.from({ length: 300 }, (_, at) => `${1_000 + at}`);
  for (const name of names) await files.create(`dir/${name}`);
  const listed = async (after: string, resultsMax: number) => {
    const asked = { ...files.at("dir"), prefix: "", after, resultsMax };
    const pages = [];
    for await (const { items } of listDirectoriesAndFiles(files.context, asked)) pages.push(items);
    return pages.flat().map(({ item }) => item.name);
  };
  // Each of these leaves a page of 20 entries in the cache, and a gap of one before the next.
  for (let at = 0; at < 280; at += 21) await listed(`${999 + at}`, 20);
  assert.ok(files.store instanceof ForgettingStore);
  files.store.mostRounds = 0;
  assert.deepEqual(await listed("", 300), names);
  assert.ok(files.store.mostRounds <= 8, `${files.store.mostRounds} rounds`);
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
