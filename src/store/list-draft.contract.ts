import assert from "node:assert/strict";
import { test } from "node:test";
import { type ContentsFixture, partOf } from "../content/contents.fixture.ts";
import { someBytes } from "./bodies.fixture.ts";
import type { Content } from "./content.ts";
import type { OpenContents } from "./contents.contract.ts";
import type { Draft, Part } from "./contents.ts";

/** Enough parts for several transactions. */
const PARTS = 2_500;

async function leaves(fixture: ContentsFixture): Promise<{ all: Content[]; parts: Part[] }> {
  const all = [await fixture.put(someBytes(3, 1)), await fixture.put(someBytes(20_000, 2))];
  const [small, large] = all as [Content, Content];
  const parts = Array.from({ length: PARTS }, (_, at) =>
    at % 100 === 7 ? partOf(large, at, 10) : partOf(small),
  );
  return { all, parts };
}

/** What contents promise of lists that are written in several transactions. */
export function listDraftContract(engine: string, open: OpenContents): void {
  const promise = (name: string, check: (fixture: ContentsFixture) => Promise<void>) =>
    test(`drafts on ${engine}: ${name}`, async (t) => check(await open(t)));

  promise("an adopted draft reads like a composed list, and outlives it", async (fixture) => {
    const { parts } = await leaves(fixture);
    const list = await fixture.store.transact((tx) => {
      for (const { content } of parts) fixture.contents.share(tx, content);
      return fixture.contents.compose(tx, parts);
    });
    const draft = (await fixture.contents.draft(parts, () => true)) as Draft;
    const drafted = await fixture.store.transact((tx) => draft.adopt(tx));
    draft.release();
    assert.deepEqual(await fixture.read(drafted), await fixture.read(list));
    await fixture.drop(list);
    await fixture.sweepAll();
    assert.equal((await fixture.read(drafted)).length, drafted.length);
  });

  promise("a draft has references of its own, which are dropped with the list", async (fixture) => {
    const { all, parts } = await leaves(fixture);
    const draft = (await fixture.contents.draft(parts, () => true)) as Draft;
    const list = await fixture.store.transact((tx) => draft.adopt(tx));
    draft.release();
    for (const leaf of all) await fixture.drop(leaf);
    await fixture.sweepAll();
    assert.equal((await fixture.read(list)).length, list.length);
    await fixture.drop(list);
    await fixture.sweepAll();
    await fixture.assertNothingLeft();
  });

  promise("the sweeper frees a draft after its release, and not before", async (fixture) => {
    const { all, parts } = await leaves(fixture);
    const draft = (await fixture.contents.draft(parts, () => true)) as Draft;
    const before = (await fixture.records()).length;
    await fixture.sweepAll();
    assert.equal((await fixture.records()).length, before);
    draft.release();
    await fixture.sweepAll();
    for (const leaf of all) assert.equal((await fixture.read(leaf)).length, leaf.length);
    for (const leaf of all) await fixture.drop(leaf);
    await fixture.sweepAll();
    await fixture.assertNothingLeft();
  });

  promise(
    "a draft whose parts do not exist any more, or that fails, leaves nothing behind",
    async (fixture) => {
      const { all, parts } = await leaves(fixture);
      let asked = 0;
      assert.equal(await fixture.contents.draft(parts, () => ++asked < 2), null);
      const refused = fixture.contents.draft(parts, () => {
        throw new Error("refused");
      });
      await assert.rejects(refused, /refused/);
      await fixture.sweepAll();
      for (const leaf of all) await fixture.drop(leaf);
      await fixture.sweepAll();
      await fixture.assertNothingLeft();
    },
  );
}
