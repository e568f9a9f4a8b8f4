import assert from "node:assert/strict";
import fc from "fast-check";
import type { Bytes } from "../base/bytes.ts";
import { Fault } from "../base/fault.ts";
import { addTo } from "./opened-store.contract.ts";
import type { Store, Transaction, View } from "./store.ts";

/** One operation of a body. */
type Step =
  | { readonly do: "set" | "append"; readonly key: Bytes; readonly value: Bytes }
  | { readonly do: "delete" | "get"; readonly key: Bytes }
  | Range;

interface Range {
  readonly do: "range";
  readonly from: Bytes;
  readonly until: Bytes;
  readonly limit: number;
  readonly reverse: boolean;
}

interface Body {
  readonly steps: readonly Step[];
  readonly refused: boolean;
}

const RUNS = 100;

// Few keys, so that steps hit the same ones; boundary values of bytes, to test the order.
const keys = fc
  .array(fc.constantFrom(0x00, 0x01, 0x7f, 0x80, 0xff), { maxLength: 3 })
  .map((bytes) => Buffer.from(bytes));
const values = fc
  .tuple(fc.constantFrom(0, 1, 5, 5_000), fc.nat(255))
  .map(([length, byte]) => Buffer.alloc(length, byte));
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("set" as const), key: keys, value: values }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("append" as const), key: keys, value: values }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), key: keys }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("get" as const), key: keys }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("range" as const),
      from: keys,
      until: keys,
      limit: fc.nat(8),
      reverse: fc.boolean(),
    }),
  },
);
const bodies: fc.Arbitrary<Body> = fc.record({
  steps: fc.array(steps, { maxLength: 12 }),
  refused: fc.boolean(),
});

/** Runs random bodies on a store and on a plain sorted map, and compares everything they read. */
export async function storeAgreesWithModel(store: Store): Promise<void> {
  let run = 0;
  const property = fc.asyncProperty(fc.array(bodies, { maxLength: 8 }), async (history) => {
    // Each run has a key prefix of its own.
    const prefix = Buffer.from([0x20, run >> 8, run & 0xff]);
    run++;
    const model = new Map<string, Bytes>();
    for (const body of history) await agree(store, model, body, prefix);
    const all: Range = { do: "range", from: NO_BYTES, until: END, limit: 999, reverse: false };
    const stored = await store.read((view) => runOnStore(view, all, prefix));
    assert.deepEqual(stored, rangeOf(model, all));
  });
  await fc.assert(property, { numRuns: RUNS });
}

const NO_BYTES = Buffer.alloc(0);
const END = Buffer.from([0xff, 0xff, 0xff, 0xff]);

async function agree(
  store: Store,
  model: Map<string, Bytes>,
  body: Body,
  prefix: Bytes,
): Promise<void> {
  const draft = new Map(model);
  const expected = body.steps.map((step) => runOnModel(draft, step));
  let seen: unknown[] = [];
  const done = store.transact((tx) => {
    seen = body.steps.map((step) => runOnStore(tx, step, prefix));
    if (body.refused) throw new Fault("ConditionNotMet");
  });
  if (body.refused) await assert.rejects(done, Fault);
  else await done;
  assert.deepEqual(seen, expected);
  if (body.refused) return;
  model.clear();
  for (const [name, value] of draft) model.set(name, value);
}

/** Runs a step on the store, and returns what it reads, rendered as text. */
function runOnStore(view: View | Transaction, step: Step, prefix: Bytes): unknown {
  const at = (key: Bytes) => Buffer.concat([prefix, key]);
  if (step.do === "range") {
    const entries = view.range(at(step.from), at(step.until), step);
    return entries.map(({ key, value }) => [hex(key.subarray(prefix.length)), hex(value)]);
  }
  if (step.do === "get") return hex(view.get(at(step.key)));
  const tx = view as Transaction;
  if (step.do === "append") return addTo(tx, at(step.key), step.value);
  if (step.do === "set") tx.set(at(step.key), step.value);
  else tx.delete(at(step.key));
  return null;
}

/** Runs a step on the model, and returns what it reads, rendered as text. */
function runOnModel(model: Map<string, Bytes>, step: Step): unknown {
  if (step.do === "range") return rangeOf(model, step);
  const name = hex(step.key);
  if (step.do === "get") return hex(model.get(name ?? ""));
  const before = model.get(name ?? "");
  if (step.do === "append") {
    if (before !== undefined) model.set(name ?? "", Buffer.concat([before, step.value]));
    return before !== undefined;
  }
  if (step.do === "set") model.set(name ?? "", step.value);
  else model.delete(name ?? "");
  return null;
}

function rangeOf(model: Map<string, Bytes>, { from, until, limit, reverse }: Range): unknown {
  const inRange = [...model.entries()]
    .map(([name, value]) => ({ key: Buffer.from(name, "hex"), value }))
    .filter(({ key }) => key.compare(from) >= 0 && key.compare(until) < 0)
    .sort((a, b) => a.key.compare(b.key));
  const ordered = reverse ? inRange.reverse() : inRange;
  return ordered.slice(0, limit).map(({ key, value }) => [hex(key), hex(value)]);
}

function hex(value: Bytes | undefined): string | null {
  return value === undefined ? null : value.toString("hex");
}
