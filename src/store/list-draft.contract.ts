import assert from "node:assert/strict";
import { test } from "node:test";
import { type ContentsBench, partOf } from "../content/contents.fixture.ts";
import { someBytes } from "./bodies.fixture.ts";
import type { Content } from "./content.ts";
import type { OpenContents } from "./contents.contract.ts";
import type { Draft, Part } from "./contents.ts";

/** Enough parts for several transactions. */
const PARTS = 2_500;

async function leaves(bench: ContentsBench): Promise<{ all: Content[]; parts: Part[] }> {
  const all = [await bench.put(someBytes(3, 1)), await bench.put(someBytes(20_000, 2))];
  const [small, large] = all as [Content, Content];
  const parts = Array.from({ length: PARTS }, (_, at) =>
    at % 100 === 7 ? partOf(large, at, 10) : partOf(small),
  );
  return { all, parts };
}

/** What contents promise of lists that are written in several transactions. */
export function listDraftContract(engine: string, open: OpenContents): void {
  const promise = (name: string, check: (bench: ContentsBench) => Promise<void>) =>
    test(`drafts on ${engine}: ${name}`, async (t) => check(await open(t)));

  promise("an adopted draft reads like a composed list, and outlives it", async (bench) => {
    const { parts } = await leaves(bench);
    const list = await bench.store.transact((tx) => {
      for (const { content } of parts) bench.contents.share(tx, content);
      return bench.contents.compose(tx, parts);
    });
    const draft = (await bench.contents.draft(parts, () => true)) as Draft;
    const drafted = await bench.store.transact((tx) => draft.adopt(tx));
    draft.release();
    assert.deepEqual(await bench.read(drafted), await bench.read(list));
    await bench.drop(list);
    await bench.sweepAll();
    assert.equal((await bench.read(drafted)).length, drafted.length);
  });

  promise("a draft has references of its own, which are dropped with the list", async (bench) => {
    const { all, parts } = await leaves(bench);
    const draft = (await bench.contents.draft(parts, () => true)) as Draft;
    const list = await bench.store.transact((tx) => draft.adopt(tx));
    draft.release();
    for (const leaf of all) await bench.drop(leaf);
    await bench.sweepAll();
    assert.equal((await bench.read(list)).length, list.length);
    await bench.drop(list);
    await bench.sweepAll();
    await bench.assertNothingLeft();
  });

  promise("the sweeper frees a draft after its release, and not before", async (bench) => {
    const { all, parts } = await leaves(bench);
    const draft = (await bench.contents.draft(parts, () => true)) as Draft;
    const before = (await bench.records()).length;
    await bench.sweepAll();
    assert.equal((await bench.records()).length, before);
    draft.release();
    await bench.sweepAll();
    for (const leaf of all) assert.equal((await bench.read(leaf)).length, leaf.length);
    for (const leaf of all) await bench.drop(leaf);
    await bench.sweepAll();
    await bench.assertNothingLeft();
  });

  promise(
    "a draft whose parts do not exist any more, or that fails, leaves nothing behind",
    async (bench) => {
      const { all, parts } = await leaves(bench);
      let asked = 0;
      assert.equal(await bench.contents.draft(parts, () => ++asked < 2), null);
      const refused = bench.contents.draft(parts, () => {
        throw new Error("refused");
      });
      await assert.rejects(refused, /refused/);
      await bench.sweepAll();
      for (const leaf of all) await bench.drop(leaf);
      await bench.sweepAll();
      await bench.assertNothingLeft();
    },
  );
}
