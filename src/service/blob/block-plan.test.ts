import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Fault } from "../../base/fault.ts";
import type { Content } from "../../store/content.ts";
import type { Part } from "../../store/contents.ts";
import type { BlockLists } from "./block-lists.ts";
import { type BlockReference, planBlocks } from "./block-plan.ts";

const SEEN = {
  place: { account: "account", parent: { id: 1n }, name: "blob", way: null },
  old: null,
  staged: null,
} as const;

function leaf(id: number): Content {
  return { id: BigInt(id), kind: "extent", length: id };
}

function committed(name: string, id: number): Part {
  return { content: leaf(id), from: 0, length: id, name };
}

function lists(parts: Part[], uncommitted: [string, Content][]): BlockLists {
  const blocks = uncommitted.map(([id, content]) => ({ id, content, keySha256: null }));
  return { seen: SEEN, committed: parts, uncommitted: blocks };
}

function namesAndIds(parts: readonly Part[]): string[] {
  return parts.map(({ name, content }) => `${name}${content.id}`);
}

test("committed, uncommitted and latest blocks are looked up in the right lists", () => {
  const both = lists(
    [committed("a", 1), committed("b", 2)],
    [
      ["a", leaf(3)],
      ["c", leaf(4)],
    ],
  );
  const plan = planBlocks(both, {
    blocks: [
      { id: "a", from: "committed" },
      { id: "a", from: "uncommitted" },
      { id: "a", from: "latest" },
      { id: "b", from: "latest" },
      { id: "c", from: "latest" },
    ],
  });
  assert.deepEqual(namesAndIds(plan.parts), ["a1", "a3", "a3", "b2", "c4"]);
});

test("a block that is missing from its list is refused by its id", () => {
  const both = lists([committed("a", 1)], [["c", leaf(4)]]);
  for (const reference of [
    { id: "c", from: "committed" },
    { id: "a", from: "uncommitted" },
    { id: "x", from: "latest" },
  ] as const) {
    assert.throws(
      () => planBlocks(both, { blocks: [reference] }),
      (error) =>
        error instanceof Fault &&
        error.code === "InvalidBlockList" &&
        error.detail.BlockId === reference.id,
    );
  }
});

const names = ["a", "b", "c", "d", "e", "f"];
const cases = fc
  .record({
    committed: fc.array(fc.constantFrom(...names), { maxLength: 8 }),
    uncommitted: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 6 }),
    wanted: fc.array(
      fc.record({
        id: fc.constantFrom(...names),
        from: fc.constantFrom("committed", "uncommitted", "latest") as fc.Arbitrary<
          BlockReference["from"]
        >,
      }),
      { maxLength: 10 },
    ),
  })
  .map(({ committed: old, uncommitted, wanted }) => {
    const parts = old.map((name) => committed(name, 1 + names.indexOf(name)));
    const staged = uncommitted.map((name): [string, Content] => [
      name,
      leaf(11 + names.indexOf(name)),
    ]);
    const exists = ({ id, from }: BlockReference) =>
      (from !== "uncommitted" && old.includes(id)) ||
      (from !== "committed" && uncommitted.includes(id));
    return { parts, staged, wanted: wanted.filter(exists) };
  });

/** How many references each content has. */
class References {
  readonly #counts = new Map<bigint, number>();

  add(content: Content, count: number): void {
    this.#counts.set(content.id, (this.#counts.get(content.id) ?? 0) + count);
  }

  /** The counts that are not zero. */
  left(): Map<bigint, number> {
    const entries = [...this.#counts].filter(([, count]) => count !== 0);
    return new Map(entries.sort(([one], [other]) => Number(one - other)));
  }
}

test("after the sweep, every content has one reference per part of the blob that uses it", () => {
  fc.assert(
    fc.property(cases, ({ parts, staged, wanted }) => {
      const plan = planBlocks(lists(parts, staged), { blocks: wanted });
      const found = new References();
      for (const part of parts) found.add(part.content, 1);
      for (const [, content] of staged) found.add(content, 1);
      for (const content of plan.shares) found.add(content, 1);
      for (const content of plan.drops) found.add(content, -1);
      if (plan.dropsStaged) for (const [, content] of staged) found.add(content, -1);
      // The replaced blob drops its references.
      for (const part of parts) found.add(part.content, -1);
      const needed = new References();
      for (const part of plan.parts) needed.add(part.content, 1);
      assert.deepEqual(found.left(), needed.left());
    }),
    { numRuns: 1_000 },
  );
});

test("a commit of all blocks changes no reference", () => {
  const staged = names.map((name, at): [string, Content] => [name, leaf(at + 1)]);
  const wanted = names.map((id): BlockReference => ({ id, from: "latest" }));
  const plan = planBlocks(lists([], staged), { blocks: wanted });
  assert.deepEqual([plan.shares, plan.drops, plan.dropsStaged], [[], [], false]);
});

test("a commit updates at most half of the uncommitted blocks one by one", () => {
  fc.assert(
    fc.property(fc.subarray(names), (used) => {
      const staged = names.map((name, at): [string, Content] => [name, leaf(at + 1)]);
      const wanted = used.map((id): BlockReference => ({ id, from: "uncommitted" }));
      const plan = planBlocks(lists([], staged), { blocks: wanted });
      assert.ok(plan.shares.length + plan.drops.length <= names.length / 2);
    }),
  );
});
