import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { QueueServiceClient } from "@azure/storage-queue";
import { newContainer, ONE_TRY, put, served, textOf } from "./served.ts";

const LARGE = "1".repeat(100_000);

test("a saved state comes back whole, as often as it is restored", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  const service = QueueServiceClient.fromConnectionString(here.server.connectionString, ONE_TRY);
  const queue = service.getQueueClient("work");
  await queue.create();
  await queue.sendMessage("job");
  const { etag } = await put(container, "small", "one");
  await put(container, "large", LARGE);
  await here.lab.save("before");
  for (const round of ["first", "second"]) {
    await put(container, "small", round);
    await put(container, "large", "2".repeat(100_000));
    await put(container, `new-${round}`, LARGE);
    await queue.clearMessages();
    await container.getBlobClient("small").delete();
    // Background work removes what nobody refers to any more.
    await here.lab.move("1s");
    await here.lab.restore("before");
    assert.equal(await textOf(container, "small"), "one");
    assert.equal(await textOf(container, "large"), LARGE);
    assert.equal((await container.getBlobClient("small").getProperties()).etag, etag);
    assert.equal(await container.getBlobClient(`new-${round}`).exists(), false);
    assert.equal((await queue.peekMessages()).peekedMessageItems.length, 1);
  }
  // Restored bytes survive later sweeps, too.
  await put(container, "other", LARGE);
  await here.lab.move("1s");
  assert.equal(await textOf(container, "large"), LARGE);
});

test("ETags after a restore are new: none is given twice", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  await here.lab.freeze();
  await here.lab.save("empty");
  const { etag } = await put(container, "doc", "one");
  await here.lab.restore("empty");
  const again = await put(container, "doc", "one");
  assert.notEqual(again.etag, etag);
});

test("clocks come back with the state, and rules go", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  await here.lab.set("2031-02-03T04:05:06Z");
  await here.lab.freeze();
  await here.lab.save("then");
  await here.lab.move("1h");
  await here.lab.rule({ operation: "PutBlob", hold: true });
  const held = put(container, "doc", "text").catch(() => {});
  await (await here.lab.rule({ operation: "GetBlob", hold: true })).state();
  await here.lab.restore("then");
  await held;
  assert.match((await here.lab.clocks()).server.now, /^2031-02-03T04:05:0/);
  assert.deepEqual(await here.lab.rules(), []);
});

test("a reset leaves an empty server by the machine's clock", async (t) => {
  const here = await served(t);
  await newContainer(here);
  await here.lab.move("1d");
  await here.lab.reset();
  assert.equal((await here.lab.clocks()).server.aheadMs, 0);
  await newContainer(here);
});

test("an unknown state and an engine that cannot are refused by name", async (t) => {
  const here = await served(t);
  await here.lab.save("one");
  await assert.rejects(here.lab.restore("two"), /No state is saved as "two". There are "one"/);
  await assert.rejects(here.lab.save("no/name"), /letters, digits, dots, dashes and underscores/);
  await here.lab.forget("one");
  await assert.rejects(here.lab.restore("one"), /None is saved/);
  const location = mkdtempSync(join(tmpdir(), "lazuli-lab-"));
  t.after(() => rmSync(location, { recursive: true }));
  const stored = await served(t, { location });
  await assert.rejects(
    stored.lab.save("one"),
    /Only a server in memory can .*--inMemoryPersistence/,
  );
});
