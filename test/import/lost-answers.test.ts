import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { AccountSASPermissions } from "@azure/storage-queue";
import { LazuliProcess } from "../command/process.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { blobsAt, queuesAt, tableAt } from "./fill-account.ts";
import { type Meddle, withProxy } from "./rest-proxy.ts";
import { withServer } from "./served.ts";
import { sharesAt } from "./shares.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-lost-answers-"));
after(() => rmSync(scratch, { recursive: true, force: true }));
const newPath = () => join(scratch, randomUUID());

const run = (...args: string[]) => new LazuliProcess(args).ended();

/** Loses the answer to the first request that fits. */
function losing(pattern: RegExp): { readonly meddle: Meddle; readonly isLost: () => boolean } {
  let isLost = false;
  const meddle = (line: string) => {
    if (isLost || !pattern.test(line)) return undefined;
    isLost = true;
    return "answer lost";
  };
  return { meddle, isLost: () => isLost };
}

test("an append whose answer is lost is done once", async () => {
  const target = newPath();
  await withServer(newPath(), async ({ blob }) => {
    const box = blobsAt(blob).getContainerClient("box");
    await box.create();
    const log = box.getAppendBlobClient("log");
    await log.create();
    for (const word of ["one ", "two ", "three "]) await log.appendBlock(word, word.length);
    await run("export", target, "--server", addressOf("Blob", blob));
  });
  await withServer(newPath(), async ({ blob }) => {
    const { meddle, isLost } = losing(/^PUT .*\/log\?comp=appendblock/);
    await withProxy(blob, meddle, async (url) => {
      const { code, err } = await run("import", target, "--server", addressOf("Blob", url));
      assert.equal(code, 0, err);
    });
    const log = blobsAt(blob).getContainerClient("box").getAppendBlobClient("log");
    assert.equal(`${await log.downloadToBuffer()}`, "one two three ");
    assert.ok(isLost());
  });
});

test("what is created although its answer is lost belongs to the import", async () => {
  const target = newPath();
  await withServer(newPath(), async (urls) => {
    await blobsAt(urls.blob).getContainerClient("box").create();
    await tableAt(urls.table, "people").createTable();
    await sharesAt(urls.file).getShareClient("docs").create();
    await run("export", target, "--server", allOf(urls));
  });
  const creations = [
    /^PUT .*\/box\?restype=container/,
    /^POST .*\/Tables/,
    /^PUT .*\/docs\?restype/,
  ];
  for (const [at, name] of (["blob", "table", "file"] as const).entries()) {
    await withServer(newPath(), async (urls) => {
      const { meddle, isLost } = losing(creations[at] as RegExp);
      await withProxy(urls[name], meddle, async (url) => {
        const server = allOf({ ...urls, [name]: url });
        const { code, err } = await run("import", target, "--server", server);
        assert.equal(code, 0, err);
      });
      assert.ok(isLost());
    });
  }
});

test("a message whose answer is lost is named, and not sent twice", async () => {
  const target = newPath();
  await withServer(newPath(), async ({ queue }) => {
    await queuesAt(queue).getQueueClient("work").create();
    await queuesAt(queue).getQueueClient("work").sendMessage("once");
    await run("export", target, "--server", addressOf("Queue", queue));
  });
  await withServer(newPath(), async ({ queue }) => {
    const { meddle, isLost } = losing(/^POST .*\/work\/messages/);
    const permissions = AccountSASPermissions.parse("rwdlacup");
    const sas = queuesAt(queue).generateAccountSasUrl(undefined, permissions, "sco");
    await withProxy(queue, meddle, async (url) => {
      const signed = new URL(sas).search.slice(1);
      const server = `QueueEndpoint=${url};SharedAccessSignature=${signed}`;
      const { code, err } = await run("import", target, "--server", server);
      assert.equal(code, 3, err);
      assert.match(err, /^failed: messages of the queue work: Nobody knows whether /m);
    });
    const { approximateMessagesCount } = await queuesAt(queue)
      .getQueueClient("work")
      .getProperties();
    assert.deepEqual([isLost(), approximateMessagesCount], [true, 1]);
  });
});

function addressOf(service: string, url: string): string {
  return `AccountName=${ACCOUNT};AccountKey=${KEY};${service}Endpoint=${url}`;
}

interface Urls {
  readonly blob: string;
  readonly table: string;
  readonly file: string;
}

function allOf({ blob, table, file }: Urls): string {
  return `${addressOf("Blob", blob)};TableEndpoint=${table};FileEndpoint=${file}`;
}
