import assert from "node:assert/strict";
import { test } from "node:test";
import { MIB } from "../base/limits.ts";
import type { Amount, BlobItem, Item, Sink, Source } from "./item.ts";
import { runTransfer } from "./run-transfer.ts";
import { TransferError } from "./transfer-error.ts";

const PART = Buffer.alloc(MIB);
const LARGE_MIB = 40;

/** A blob whose bytes are read in parts of one MiB. */
function blobOf(name: string, mib: number): BlobItem {
  const body = {
    bytes: mib * MIB,
    async *read() {
      for (let at = 0; at < mib; at++) yield PART;
    },
  };
  const revision = { type: "BlockBlob", metadata: [], tags: [], body } as const;
  return { kind: "blob", container: "box", name, revisions: [revision] };
}

function sourceOf(items: readonly Item[]): Source {
  return {
    survey: async () => null,
    async *items() {
      yield* items;
    },
    close: async () => {},
  };
}

/** Reads every body, those of some names twice, and fails at the end of others. */
function sinkOf(what: { readonly twice?: string; readonly fails?: string }): Sink {
  return {
    async put(item) {
      const { name, revisions } = item as BlobItem;
      for (let times = name === what.twice ? 2 : 1; times > 0; times--) {
        for (const { body } of revisions) for await (const _ of body.read());
      }
      if (name === what.fails) throw new TransferError("no");
      return "written";
    },
    finish: async () => {},
    abandon: async () => {},
  };
}

async function progressOf(items: readonly Item[], sink: Sink): Promise<Amount[]> {
  const shown: Amount[] = [];
  await runTransfer(sourceOf(items), sink, {
    parallel: 1,
    onProgress: (done) => shown.push({ ...done }),
    onFailure: () => {},
    signal: new AbortController().signal,
  });
  return shown;
}

test("progress goes on within a large body, and ends with all bytes", async () => {
  for (const what of [{}, { twice: "large" }, { fails: "large" }]) {
    const shown = await progressOf([blobOf("large", LARGE_MIB), blobOf("b", 1)], sinkOf(what));
    const within = new Set(shown.filter(({ objects }) => objects === 0).map(({ bytes }) => bytes));
    assert.ok(within.size >= LARGE_MIB, `${within.size}`);
    assert.equal(shown.at(-1)?.bytes, (LARGE_MIB + 1) * MIB);
    assert.ok(shown.every(({ bytes }) => bytes <= (LARGE_MIB + 1) * MIB));
  }
});
