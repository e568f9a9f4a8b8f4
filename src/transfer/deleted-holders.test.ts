import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../base/clock.ts";
import { AccountSink } from "./account-sink.ts";
import type { Item, Source } from "./item.ts";
import { RestClient } from "./rest-client.ts";
import { runTransfer } from "./run-transfer.ts";

const DELETED = {
  version: "01DC5A3B7C8D9E0F",
  deleted: "2026-11-16T00:00:00.000Z",
  until: "2026-11-23T00:00:00.000Z",
};
const body = { bytes: 0, async *read() {} };
const ITEMS: readonly Item[] = [
  { kind: "container", name: "box", ...DELETED, metadata: [], policies: [] },
  {
    kind: "blob",
    container: "box",
    version: DELETED.version,
    name: "a",
    revisions: [{ type: "BlockBlob", metadata: [], tags: [], body }],
  },
  { kind: "share", name: "docs", ...DELETED, metadata: [], policies: [] },
  { kind: "file", share: "docs", version: DELETED.version, path: "a", metadata: [], body },
];

test("what was deleted is named and left out, with what lies in it, unless the server is ours", async () => {
  const source: Source = {
    survey: async () => null,
    async *items() {
      yield* ITEMS;
    },
    close: async () => {},
  };
  // A SAS does not permit it either, whosever the server is: nothing is sent.
  const urls = { blob: "http://127.0.0.1:9/a", file: "http://127.0.0.1:9/a" };
  const client = new RestClient({ name: "a", urls, credentials: { sas: "sig=x" } }, 1);
  const sink = new AccountSink(client, "fail", new ManualClock(0));
  const failed: string[] = [];
  const done = await runTransfer(source, sink, {
    parallel: 4,
    signal: new AbortController().signal,
    onProgress: () => {},
    onFailure: (name, reason) => failed.push(`${name}: ${reason}`),
  });
  assert.deepEqual([done.objects, done.skipped, done.failed], [0, 2, 2]);
  assert.match(
    failed[0] ?? "",
    /^container box: It was deleted 2026-11-16T.*restore it in the source/,
  );
  assert.match(failed[1] ?? "", /^share docs: It was deleted /);
  await sink.finish();
  client.close();
});
