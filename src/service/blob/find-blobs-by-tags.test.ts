import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { slicesDuring } from "../../base/fair-queue.fixture.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { OWNER } from "../../rules/access.ts";
import { matchesTags, type TagComparison, type TagQuery } from "../../rules/tag-expression.ts";
import type { Tags } from "../../rules/tags.ts";
import { CountingStore } from "../../store/counting-store.fixture.ts";
import { type DataOptions, IN_MEMORY } from "../shared/service-data.fixture.ts";
import { Blobs } from "./blobs.fixture.ts";
import { createContainer } from "./create-container.ts";
import { deleteBlob } from "./delete-blob.ts";
import { deleteContainer } from "./delete-container.ts";
import { type FindBlobsByTags, type FindPosition, findBlobsByTags } from "./find-blobs-by-tags.ts";
import { setBlobMetadata } from "./set-blob-metadata.ts";
import { setBlobTags } from "./set-blob-tags.ts";
import { snapshotBlob } from "./snapshot-blob.ts";

const CONTAINERS = ["container", "other"];

async function open(options?: DataOptions): Promise<Blobs> {
  const blobs = await Blobs.open(false, options);
  const at = { account: "account", container: "other" };
  const more = { access: OWNER, publicAccess: "none" as const, metadata: [] };
  await createContainer(blobs.context, { at, ...more });
  return blobs;
}

interface Asked {
  readonly container?: string | null;
  readonly resultsMax?: number;
}

/** `container/name` of every result, in as many requests as it takes. */
async function find(
  { context }: Pick<Blobs, "context">,
  query: TagQuery,
  { container = null, resultsMax = 1_000 }: Asked = {},
): Promise<string[]> {
  const found: string[] = [];
  let from: FindPosition | null = null;
  do {
    const asked: FindBlobsByTags = {
      account: "account",
      container,
      access: OWNER,
      query,
      from,
      resultsMax,
    };
    let count = 0;
    from = null;
    for await (const { items, next } of findBlobsByTags(context, asked)) {
      for (const item of items) found.push(`${item.container}/${item.name}`);
      count += items.length;
      from = next;
    }
    assert.ok(count <= resultsMax);
  } while (from !== null);
  return found;
}

function query(...comparisons: [string, TagComparison["operator"], string][]): TagQuery {
  return {
    container: null,
    comparisons: comparisons.map(([tag, operator, value]) => ({
      kind: "compare",
      tag,
      operator,
      value,
    })),
  };
}

const tags = fc
  .uniqueArray(fc.constantFrom("a", "b", "c"), { maxLength: 3 })
  .chain((names) => fc.tuple(...names.map((name) => fc.tuple(fc.constant(name), value))));
const value = fc.constantFrom("", "1", "10", "2", "a b", "z");
const blob = fc.record({
  container: fc.constantFrom(...CONTAINERS),
  name: fc.constantFrom("p", "q", "r", "r/s", "t", "ü"),
});
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant("put" as const), blob, tags }) },
  fc.record({ does: fc.constant("tag" as const), blob, tags }),
  fc.record({ does: fc.constant("touch" as const), blob, tags }),
  fc.record({ does: fc.constant("delete" as const), blob, tags }),
);
const comparison: fc.Arbitrary<TagComparison> = fc.record({
  kind: fc.constant("compare" as const),
  tag: fc.constantFrom("a", "b", "c", "d"),
  operator: fc.constantFrom("=" as const, "=" as const, ">" as const, ">=" as const, "<" as const),
  value,
});
const asked: fc.Arbitrary<TagQuery> = fc.record({
  container: fc.constantFrom(null, null, ...CONTAINERS, "none"),
  comparisons: fc.array(comparison, { minLength: 1, maxLength: 4 }),
});

async function act(
  blobs: Blobs,
  model: Map<string, Tags>,
  one: typeof step extends fc.Arbitrary<infer T> ? T : never,
): Promise<void> {
  const path = `${one.blob.container}/${one.blob.name}`;
  const use = blobs.use(one.blob.name);
  const at = { ...use.at, container: one.blob.container };
  if (one.does === "put") {
    await blobs.put(one.blob.name, "x", { at, tags: one.tags });
    model.set(path, one.tags);
    return;
  }
  if (!model.has(path)) return;
  switch (one.does) {
    case "tag":
      await setBlobTags(blobs.context, { ...use, at, tags: one.tags });
      model.set(path, one.tags);
      break;
    case "touch":
      await setBlobMetadata(blobs.context, { ...use, at, metadata: [["a", "b"]] });
      await snapshotBlob(blobs.context, { ...use, at, metadata: null });
      break;
    case "delete":
      await deleteBlob(blobs.context, { ...use, at, snapshots: "include", permanent: false });
      model.delete(path);
  }
}

test("a search finds exactly the blobs that match, after any writes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 25 }),
      fc.array(asked, { minLength: 1, maxLength: 8 }),
      fc.constantFrom(1, 2, 3, 1_000),
      async (steps, queries, resultsMax) => {
        const blobs = await open();
        const model = new Map<string, Tags>();
        for (const one of steps) await act(blobs, model, one);
        for (const one of queries) {
          const expected = [...model].filter(([path, found]) => {
            const isThere = one.container === null || path.startsWith(`${one.container}/`);
            return isThere && matchesTags(found, { kind: "all", terms: one.comparisons });
          });
          const found = await find(blobs, one, { resultsMax });
          assert.deepEqual(found.sort(), expected.map(([path]) => path).sort());
        }
        const tagged = [...model.values()].reduce((sum, own) => sum + own.length, 0);
        assert.equal(
          (await entriesOf(blobs)).length,
          tagged,
          "one entry for each tag, and no more",
        );
      },
    ),
    { numRuns: 150, verbose: 1 },
  );
});

test("results are ordered by container, then by the value of the tag, then by name", async () => {
  const blobs = await open();
  for (const [name, tag] of [
    ["x", "2"],
    ["y", "10"],
    ["a", "2"],
  ] as const) {
    await blobs.put(name, "text", { tags: [["size", tag]] });
  }
  assert.deepEqual(await find(blobs, query(["size", ">=", "1"])), [
    "container/y",
    "container/a",
    "container/x",
  ]);
});

test("a search for a rare match among many candidates lets other requests run", async () => {
  const blobs = await open();
  for (let at = 0; at < 3_500; at++) await blobs.put(`a${at}`, "", { tags: [["a", "1"]] });
  await blobs.put("b", "", {
    tags: [
      ["a", "1"],
      ["b", "2"],
    ],
  });
  const comparisons: TagComparison[] = [
    { kind: "compare", tag: "a", operator: ">=", value: "1" },
    { kind: "compare", tag: "b", operator: ">=", value: "2" },
  ];
  const query = { container: null, comparisons };
  const slices = await slicesDuring(async () => {
    assert.deepEqual(await find(blobs, query), ["container/b"]);
  });
  assert.ok(slices >= 3, `${slices} slices`);
});

test("the longest name is found by the longest tag", async () => {
  const blobs = await open();
  const [tag, text] = ["n".repeat(128), "v".repeat(256)];
  const name = "\u6f22".repeat(1_024);
  await blobs.put(name, "text", { tags: [[tag, text]] });
  assert.deepEqual(await find(blobs, query([tag, "=", text])), [`container/${name}`]);
});

test("a deleted container's blobs are not found, and their index entries are swept", async () => {
  const blobs = await open();
  await blobs.put("a", "text", { tags: [["colour", "blue"]] });
  await deleteContainer(blobs.context, { ...blobs.use(""), leaseId: null });
  assert.deepEqual(await find(blobs, query(["colour", "=", "blue"])), []);
  await blobs.sweep();
  assert.deepEqual(await entriesOf(blobs), []);
});

function entriesOf({ store }: Blobs) {
  const all = key(SPACE.blobTag);
  return store.read((view) => view.range(all, keyAfter(all), { limit: 1_000 }));
}

/** The number of records read to find three blobs among `others`. */
async function costAmong(others: number, asked: TagQuery, more: Asked = {}): Promise<number> {
  const blobs = await open(IN_MEMORY);
  for (let at = 0; at < others; at++) {
    const name = `other ${at}`;
    const rest: Tags = [
      ["colour", "red"],
      ["size", String(1_000 + at)],
      ["half", "yes"],
    ];
    await blobs.put(name, "text", { tags: rest });
  }
  for (let at = 0; at < 3; at++) {
    await blobs.put(`rare ${at}`, "text", {
      tags: [
        ["colour", "blue"],
        ["size", "9"],
        ["half", "yes"],
      ],
    });
  }
  const store = new CountingStore(blobs.store);
  assert.equal((await find({ context: { ...blobs.context, store } }, asked, more)).length, 3);
  return store.used();
}

for (const [what, asked, more] of [
  ["one value", query(["colour", "=", "blue"]), {}],
  ["a range of values", query(["size", ">", "5"]), {}],
  ["two bounds", query(["size", ">=", "5"], ["size", "<=", "9"]), {}],
  ["a rare value and a common one", query(["half", "=", "yes"], ["colour", "=", "blue"]), {}],
  ["a value and a range", query(["size", ">", "0"], ["colour", "=", "blue"]), {}],
  ["one value in a container", query(["colour", "=", "blue"]), { container: "container" }],
] as const) {
  test(`finding few blobs by ${what} costs the same among 20 as among 600`, async () => {
    const among20 = await costAmong(20, asked, more);
    const among600 = await costAmong(600, asked, more);
    assert.ok(among600 <= among20 + 20, `${among20} and ${among600} records`);
  });
}

test("a search of blobs with much metadata takes many small reads", async () => {
  const blobs = await open();
  const metadata = [["name", "x".repeat(8_000)]] as const;
  for (let at = 0; at < 100; at++) await blobs.put(`a${at}`, "", { tags: [["a", "1"]], metadata });
  const slices = await slicesDuring(async () => {
    assert.equal((await find(blobs, query(["a", "=", "1"]))).length, 100);
  });
  assert.ok(slices >= 4, `${slices} slices`);
});
