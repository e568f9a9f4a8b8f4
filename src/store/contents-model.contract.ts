import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { copyAndRelease } from "../base/borrowed-buffer.ts";
import type { Bytes } from "../base/bytes.ts";
import { type ContentsFixture, NO_DIGESTS, partOf } from "../content/contents.fixture.ts";
import { inParts, someBytes } from "./bodies.fixture.ts";
import type { Content, Reading } from "./content.ts";
import type { OpenContents } from "./contents.contract.ts";
import type { Part } from "./contents.ts";

const kinds = [
  ...["put", "put", "put", "abandon", "compose", "slice", "share", "drop", "drop", "drop"],
  ...[
    "replace",
    "recompose",
    "recompose",
    "read",
    "open",
    "step",
    "step",
    "close",
    "sweep",
    "sweep",
  ],
] as const;

const operation = fc.record({
  kind: fc.constantFrom(...kinds),
  /** Chooses a content, a reading or an offset. */
  pick: fc.nat(10_000),
  length: fc.oneof(fc.nat(3_000), fc.integer({ min: 16_000, max: 120_000 })),
});

type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** Compares random operations with a model that has nothing but buffers, with sweeps in between. */
export function contentsModelContract(engine: string, runs: number, open: OpenContents): void {
  test(`contents on ${engine}: 1,000 random operations per run agree with a model`, async (t) => {
    const operations = fc.array(operation, { minLength: 1_000, maxLength: 1_000 });
    await fc.assert(
      fc.asyncProperty(operations, async (list) => {
        const world = new World(await open(t));
        for (const [at, each] of list.entries()) await world.run(each, at);
        await world.finish();
      }),
      // Shrinking runs of this length would take hours; the seed is printed.
      { numRuns: runs, endOnFailure: true },
    );
  });
}

/** A content and what its bytes must be. */
interface Model {
  readonly content: Content;
  readonly bytes: Bytes;
  /** Whether it is a list with lists among its parts. */
  readonly isNested: boolean;
  references: number;
}

interface Open {
  readonly reading: Reading;
  rest: Bytes;
}

class World {
  readonly #fixture: ContentsFixture;
  readonly #models: Model[] = [];
  readonly #open: Open[] = [];
  #sweeps: Promise<unknown> = Promise.resolve();

  constructor(fixture: ContentsFixture) {
    this.#fixture = fixture;
  }

  async run(operation: Operation, seed: number): Promise<void> {
    const { kind, pick, length } = operation;
    if (kind === "put") await this.#put(someBytes(length, seed));
    if (kind === "abandon") await this.#abandon(someBytes(length, seed));
    if (kind === "compose") await this.#compose(pick);
    // Not awaited, so that the next operations run concurrently.
    if (kind === "sweep")
      this.#sweeps = Promise.all([this.#sweeps, this.#fixture.contents.sweep()]);
    const model = this.#models[pick % this.#models.length];
    if (model !== undefined) await this.#useModel(kind, model, pick);
    if (model !== undefined && kind === "replace")
      await this.#replace(model, someBytes(length, seed));
    const open = this.#open[pick % this.#open.length];
    if (open !== undefined) await this.#useOpen(kind, open);
  }

  /** Drops everything, and checks that no record and no byte is left. */
  async finish(): Promise<void> {
    await this.#sweeps;
    for (const open of [...this.#open]) {
      while (open.rest.length > 0) await this.#step(open);
      this.#close(open);
    }
    for (const model of this.#models) {
      assert.ok((await this.#fixture.read(model.content)).equals(model.bytes));
    }
    for (const model of [...this.#models]) {
      while (model.references > 0) await this.#drop(model);
    }
    await this.#fixture.sweepAll();
    await this.#fixture.assertNothingLeft();
  }

  async #useModel(kind: Operation["kind"], model: Model, pick: number): Promise<void> {
    const from = pick % (model.bytes.length + 1);
    if (kind === "drop") await this.#drop(model);
    if (kind === "slice") await this.#slice(model, from);
    if (kind === "recompose") await this.#recompose(model, pick);
    if (kind === "share") {
      await this.#fixture.share(model.content);
      model.references++;
    }
    if (kind === "read") {
      const read = await this.#fixture.read(model.content, from);
      assert.ok(read.equals(model.bytes.subarray(from)));
    }
    if (kind === "open") {
      const reading = await this.#fixture.open(model.content, from);
      this.#open.push({ reading, rest: model.bytes.subarray(from) });
    }
  }

  async #useOpen(kind: Operation["kind"], open: Open): Promise<void> {
    if (kind === "step") await this.#step(open);
    if (kind === "close") this.#close(open);
  }

  async #put(bytes: Bytes): Promise<void> {
    const content = await this.#fixture.put(bytes);
    this.#models.push({ content, bytes, isNested: false, references: 1 });
  }

  async #abandon(bytes: Bytes): Promise<void> {
    (await this.#fixture.contents.take(inParts(bytes, 20_000), NO_DIGESTS)).release();
  }

  /** Composes ranges of leaves and of lists of leaves, which it takes over or shares. */
  async #compose(pick: number): Promise<void> {
    const flat = this.#models.filter(({ isNested }) => !isNested);
    const chosen = flat.filter((_, at) => (at + pick) % 5 < 2);
    const isNested = chosen.some(({ content }) => content.kind === "list");
    const parts: Part[] = [];
    const bytes: Bytes[] = [];
    for (const part of chosen) {
      const from = pick % (part.bytes.length + 1);
      const length = Math.floor((part.bytes.length - from) / 2);
      parts.push(partOf(part.content, from, length));
      bytes.push(part.bytes.subarray(from, from + length));
      if (pick % 2 === 0) await this.#fixture.share(part.content);
      else this.#forget(part);
    }
    const content = await this.#fixture.compose(parts);
    this.#models.push({ content, bytes: Buffer.concat(bytes), isNested, references: 1 });
  }

  async #slice({ content, bytes }: Model, from: number): Promise<void> {
    const { store, contents } = this.#fixture;
    const length = Math.ceil((bytes.length - from) / 2);
    const slice = await store.transact((tx) => contents.slice(tx, content, from, length));
    assert.ok(slice !== null);
    const shown = bytes.subarray(from, from + length);
    this.#models.push({ content: slice, bytes: shown, isNested: false, references: 1 });
  }

  /** Replaces a list by some of its parts, each of them once or twice. */
  async #recompose(model: Model, pick: number): Promise<void> {
    const { store, contents } = this.#fixture;
    if (model.content.kind !== "list") return;
    const { content, bytes } = await store.transact((tx) => {
      const parts: Part[] = [];
      const bytes: Bytes[] = [];
      let at = 0;
      const replaced = contents.partsOf(tx, model.content, 0, model.bytes.length + 1_000);
      for (const part of replaced) {
        const shown = model.bytes.subarray(at, at + part.length);
        for (let times = (pick + at) % 3; times > 0; times--) {
          parts.push(part);
          bytes.push(shown);
        }
        at += part.length;
      }
      const shared = parts.map((part) => part.content);
      const known = pick % 2 === 0 ? replaced : undefined;
      return { content: contents.recompose(tx, model.content, parts, shared, known), bytes };
    });
    const { isNested } = model;
    this.#forget(model);
    this.#models.push({ content, bytes: Buffer.concat(bytes), isNested, references: 1 });
  }

  async #replace(model: Model, bytes: Bytes): Promise<void> {
    const { store, contents } = this.#fixture;
    const taken = await contents.take(inParts(bytes, 20_000), NO_DIGESTS);
    const content = await store.transact((tx) => contents.replace(tx, model.content, taken));
    taken.release();
    this.#forget(model);
    this.#models.push({ content, bytes, isNested: false, references: 1 });
  }

  async #drop(model: Model): Promise<void> {
    await this.#fixture.drop(model.content);
    this.#forget(model);
  }

  #forget(model: Model): void {
    model.references--;
    if (model.references === 0) this.#models.splice(this.#models.indexOf(model), 1);
  }

  async #step(open: Open): Promise<void> {
    const borrowed = await open.reading.borrow(Number.POSITIVE_INFINITY);
    if (borrowed === null) return assert.equal(open.rest.length, 0);
    const bytes = copyAndRelease(borrowed);
    assert.ok(bytes.equals(open.rest.subarray(0, bytes.length)));
    open.rest = open.rest.subarray(bytes.length);
  }

  #close(open: Open): void {
    open.reading.close();
    this.#open.splice(this.#open.indexOf(open), 1);
  }
}
