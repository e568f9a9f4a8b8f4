import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { LazuliProcess } from "../command/process.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { queuesAt } from "./fill-account.ts";
import { withProxy } from "./rest-proxy.ts";
import { withServer } from "./served.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-stopping-queues-"));
after(() => rmSync(scratch, { recursive: true, force: true }));

const PAGES = 10;
const PAGE_MESSAGES = 3;

/** An export whose queues have their messages in many pages, mixed like those of Azurite. */
function exportOfQueues(): string {
  const folder = join(scratch, "export");
  mkdirSync(folder);
  const pages = Array.from({ length: PAGES }, (_, page) =>
    ["first", "second"].map((queue) => ({
      kind: "messages",
      queue,
      messages: Array.from({ length: PAGE_MESSAGES }, (_, at) => ({
        text: `${page}-${at}`,
        id: randomUUID(),
        inserted: new Date(1_700_000_000_000 + page * 1_000 + at).toISOString(),
      })),
    })),
  ).flat();
  const queues = ["first", "second"].map((name) => ({
    kind: "queue",
    name,
    metadata: [],
    policies: [],
  }));
  const items = [...queues, ...pages];
  const start = { lazuli: "export", format: 3, account: ACCOUNT, made: "2026-01-01T00:00:00Z" };
  const lines = [start, ...items, { end: { items: items.length } }];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  writeFileSync(join(folder, "manifest.jsonl"), text);
  return folder;
}

async function counts(url: string): Promise<(number | undefined)[]> {
  const own = ["first", "second"].map(async (name) => {
    const { approximateMessagesCount } = await queuesAt(url).getQueueClient(name).getProperties();
    return approximateMessagesCount;
  });
  return Promise.all(own);
}

test("Ctrl-C within a queue completes it, so that skip goes on with the others", async () => {
  const source = exportOfQueues();
  const all = PAGES * PAGE_MESSAGES;
  await withServer(join(scratch, "data"), async ({ queue }) => {
    let command: LazuliProcess | null = null;
    let isInterrupted = false;
    const interrupt = (line: string) => {
      if (line.startsWith("POST ") && !isInterrupted) {
        isInterrupted = true;
        command?.signal("SIGINT");
      }
      return undefined;
    };
    await withProxy(queue, interrupt, async (url) => {
      const server = `AccountName=${ACCOUNT};AccountKey=${KEY};QueueEndpoint=${url}`;
      command = new LazuliProcess(["import", source, "--server", server, "--existing", "skip"]);
      const { code, err } = await command.ended();
      assert.equal(code, 130, err);
    });
    // The second queue has all or nothing, depending on when the signal was seen.
    const [first, second] = await counts(queue);
    assert.ok(first === all && (second === 0 || second === all), `${first}, ${second}`);
    const server = `AccountName=${ACCOUNT};AccountKey=${KEY};QueueEndpoint=${queue}`;
    const again = await new LazuliProcess([
      ...["import", source, "--server", server, "--existing", "skip"],
    ]).ended();
    assert.equal(again.code, 0, again.err);
    assert.deepEqual(await counts(queue), [all, all]);
  });
});
