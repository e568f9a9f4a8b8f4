import assert from "node:assert/strict";
import { test } from "node:test";
import { refused } from "./blobs.fixture.ts";
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
