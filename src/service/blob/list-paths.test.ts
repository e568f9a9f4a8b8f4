import assert from "node:assert/strict";
import { test } from "node:test";
import { ForgettingStore } from "../../store/forgetting-store.fixture.ts";
import type { View } from "../../store/store.ts";
import { StoreDecorator } from "../../store/store-decorator.ts";
import { Blobs, refused } from "./blobs.fixture.ts";
import { listPaths } from "./list-paths.ts";
import { Paths } from "./paths.fixture.ts";

async function filled(): Promise<Paths> {
  const paths = await Paths.open();
  await paths.create("directory", "a");
  for (const name of ["a/b/c", "a/d", "a-x", "a.y", "e/f", "g"]) await paths.write(name, "bytes");
  return paths;
}

test("a level shows its files and directories once each, all levels show what was written", async () => {
  const paths = await filled();
  assert.deepEqual(await paths.list(), ["a/", "a-x", "a.y", "e/", "g"]);
  assert.deepEqual(await paths.list({ directory: "a" }), ["a/b/", "a/d"]);
  const all = ["a/", "a-x", "a.y", "a/b/c", "a/d", "e/f", "g"];
  assert.deepEqual(await paths.list({ isRecursive: true }), all);
  assert.deepEqual(await paths.list({ directory: "a", isRecursive: true }), ["a/b/c", "a/d"]);
});

test("pages of any size show the same", async () => {
  const paths = await filled();
  for (const isRecursive of [true, false]) {
    const whole = await paths.list({ isRecursive });
    for (let resultsMax = 1; resultsMax <= whole.length; resultsMax++) {
      const found: string[] = [];
      let after: string | null = null;
      do {
        const page: { names: string[]; next: string | null } = await paths.page({
          isRecursive,
          resultsMax,
          after,
        });
        assert.ok(page.names.length <= resultsMax);
        found.push(...page.names);
        after = page.next;
      } while (after !== null);
      assert.deepEqual(found, whole);
    }
  }
});

test("a list can begin at a path, and needs its directory", async () => {
  const paths = await filled();
  assert.deepEqual(await paths.list({ beginFrom: "e" }), ["e/", "g"]);
  assert.deepEqual(await paths.list({ directory: "a", beginFrom: "c" }), ["a/d"]);
  await assert.rejects(paths.list({ directory: "missing" }), refused("BlobNotFound"));
  await assert.rejects(paths.list({ directory: "g" }), refused("BlobNotFound"));
});

/** Counts the bodies that read. */
class Reads extends StoreDecorator {
  count = 0;

  override read<T>(body: (view: View) => T): Promise<T> {
    this.count++;
    return this.inner.read(body);
  }
}

test("a list of many small directories is one store read, in as many rounds as they are deep", async () => {
  const blobs = await Blobs.openHierarchical({ inMemory: (store) => store });
  const names: string[] = [];
  for (const above of ["a", "b", "c", "d"]) {
    for (const below of ["e", "f", "g", "h"]) {
      await blobs.put(`${above}/${below}/deep/file`, "");
      names.push(`${above}/${below}/deep/file`);
    }
  }
  const { context } = blobs;
  const forgetting = new ForgettingStore(context.store);
  const reads = new Reads(forgetting);
  const { at, access } = blobs.use("");
  const tree = { directory: "", isRecursive: true, beginFrom: "", after: null, resultsMax: 5_000 };
  const listed: string[] = [];
  for await (const { items } of listPaths({ ...context, store: reads }, { at, access, ...tree })) {
    listed.push(...items.map(({ name }) => name).filter((name) => name.endsWith("file")));
  }
  assert.deepEqual(listed, names);
  assert.equal(reads.count, 1);
  assert.ok(forgetting.mostRounds <= 8, `${forgetting.mostRounds} rounds`);
});
