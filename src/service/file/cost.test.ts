import assert from "node:assert/strict";
import { test } from "node:test";
import { CountingStore } from "../../store/counting-store.fixture.ts";
import { deleteShare } from "./delete-share.ts";
import { Files } from "./files.fixture.ts";
import { NO_SETTINGS } from "./item-settings.ts";
import { listDirectoriesAndFiles } from "./list-directories-and-files.ts";
import { renameDirectory } from "./rename-directory.ts";
import { snapshotShare } from "./snapshot-share.ts";

/** What each operation costs in the store with `count` files in a directory. */
async function costs(count: number): Promise<Record<string, number>> {
  let store: CountingStore | null = null;
  const files = await Files.open({
    inMemory: (memory) => {
      store = new CountingStore(memory);
      return store;
    },
  });
  const counting = store as unknown as CountingStore;
  await files.createDirectory("dir");
  for (let index = 0; index < count; index++) {
    await files.create(`dir/${String(index).padStart(6, "0")}`, "text");
  }
  const found: Record<string, number> = {};
  const measure = async (name: string, what: () => Promise<unknown>) => {
    counting.used();
    await what();
    found[name] = counting.used();
  };
  const { context } = files;
  const page = { ...files.at("dir"), prefix: "", after: "000010", resultsMax: 20 };
  await measure("list", async () => {
    for await (const _ of listDirectoriesAndFiles(context, page));
  });
  await measure("list by prefix", async () => {
    for await (const _ of listDirectoriesAndFiles(context, { ...page, prefix: "00004" }));
  });
  await measure("create", () => files.create("dir/new", "text"));
  await measure("write", () => files.write("dir/new", 0, "more"));
  await measure("snapshot", () => snapshotShare(context, { ...files.share(), metadata: null }));
  await measure("rename", () =>
    renameDirectory(context, {
      ...files.at("moved"),
      source: files.at("dir"),
      replaces: false,
      ignoresReadOnly: false,
      settings: NO_SETTINGS,
      metadata: null,
    }),
  );
  await measure("delete", () => deleteShare(context, { ...files.share(), snapshots: "include" }));
  return found;
}

test("no operation costs more in a directory of many files", async () => {
  assert.deepEqual(await costs(2_000), await costs(100));
});
