import assert from "node:assert/strict";
import { test } from "node:test";
import { Choice } from "../choice.ts";
import { TransferError } from "../transfer-error.ts";
import { ExportSource } from "./export-source.ts";
import type { FileTree } from "./file-tree.ts";
import { firstLine, lastLine } from "./manifest.ts";

const FIRST = firstLine("account", 0);
const queue = (name: string) => `{"kind":"queue","name":"${name}","metadata":[],"policies":[]}\n`;

/** A tree with a manifest of these lines. */
function treeOf(lines: readonly string[]): FileTree {
  const text = Buffer.from(lines.join(""));
  return {
    async *entries() {},
    body: async () => ({
      bytes: text.length,
      async *read() {
        yield text;
      },
    }),
    close: async () => {},
  };
}

async function namesIn(...lines: string[]): Promise<string[]> {
  const source = await ExportSource.open(treeOf(lines), new Choice(null));
  assert.ok(source !== null);
  await source.survey();
  const names: string[] = [];
  for await (const item of source.items()) if ("name" in item) names.push(item.name);
  return names;
}

const refused = (pattern: RegExp) => (error: unknown) =>
  error instanceof TransferError && pattern.test(error.message);

test("a manifest has as many items as its last line says, and nothing behind it", async () => {
  assert.deepEqual(await namesIn(FIRST, queue("a"), queue("b"), lastLine(2)), ["a", "b"]);
  assert.deepEqual(await namesIn(FIRST, lastLine(0)), []);
  const count = refused(/does not have the 2 items that its last line names/);
  await assert.rejects(namesIn(FIRST, queue("a"), lastLine(2)), count);
  await assert.rejects(namesIn(FIRST, queue("a"), queue("b"), lastLine(2), queue("c")), count);
  await assert.rejects(namesIn(FIRST, queue("a"), queue("b")), refused(/is cut short/));
});

test("a line of another shape is refused by its number", async () => {
  const others = [
    "{}",
    "[]",
    '{"kind":"toString"}',
    '{"kind":"blob","container":"box","name":"a"}',
    '{"kind":"blob","container":"box","name":"a","revisions":[{"type":"BlockBlob"}]}',
    '{"kind":"queue","name":"b","metadata":[["a"]],"policies":[]}',
    '{"kind":"file","share":"s","path":"p","metadata":[],"body":{"file":"f","bytes":-1,"sha256":""}}',
  ];
  for (const other of others) {
    await assert.rejects(
      namesIn(FIRST, queue("a"), `${other}\n`, lastLine(2)),
      refused(/^manifest\.jsonl:3 is not a line of a manifest\. It is damaged\.$/),
      other,
    );
  }
});
