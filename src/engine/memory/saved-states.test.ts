import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ManualClock } from "../../base/clock.ts";
import type { SavedState } from "../../store/saved-state.ts";
import { MemoryStore } from "./store.ts";

type Step =
  | { readonly kind: "write"; readonly key: number; readonly value: number | null }
  | { readonly kind: "save" | "restore" | "forget"; readonly state: number };

const state = fc.integer({ min: 0, max: 2 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("write" as const),
    key: fc.integer({ min: 0, max: 4 }),
    value: fc.option(fc.integer({ min: 0, max: 255 })),
  }),
  fc.record({
    kind: fc.constantFrom("save" as const, "restore" as const, "forget" as const),
    state,
  }),
);

test("every saved state comes back as it was, whatever happens between, in any order", async () => {
  const run = async (steps: readonly Step[]) => {
    const store = new MemoryStore(new ManualClock(0));
    const model = new Map<number, number>();
    const saved = new Map<number, { state: SavedState; model: Map<number, number> }>();
    for (const one of steps) {
      if (one.kind === "write") {
        const { key, value } = one;
        const name = Buffer.from([1, key]);
        await store.transact((tx) => {
          if (value === null) tx.delete(name);
          else tx.set(name, Buffer.from([value]));
        });
        if (value === null) model.delete(key);
        else model.set(key, value);
      } else {
        const found = saved.get(one.state);
        if (one.kind === "save") {
          found?.state.forget();
          saved.set(one.state, { state: store.save(), model: new Map(model) });
        } else if (one.kind === "forget") {
          found?.state.forget();
          saved.delete(one.state);
        } else if (found !== undefined) {
          found.state.restore();
          model.clear();
          for (const [key, value] of found.model) model.set(key, value);
        }
      }
      const all = await store.read((view) =>
        view.range(Buffer.from([1]), Buffer.from([2]), { limit: 100 }),
      );
      const stored = all.map(({ key, value }) => [key[1], value[0]]);
      assert.deepEqual(
        stored,
        [...model].sort(([a], [b]) => a - b),
      );
    }
  };
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 40 }), run), { numRuns: 200 });
});
