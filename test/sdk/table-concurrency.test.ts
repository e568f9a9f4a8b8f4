import assert from "node:assert/strict";
import { test } from "node:test";
import type { RestError, TableClient, TransactionAction } from "@azure/data-tables";
import { refused } from "./refused.ts";
import { forThisFile } from "./server.ts";
import { outcome, startTableServer, tableRequest } from "./table-server.ts";

const server = await forThisFile(startTableServer());

const KEYS = { partitionKey: "p", rowKey: "r" };
const STALE = "W/\"datetime'2001-01-01T00%3A00%3A00.0000000Z'\"";

async function withEntity(): Promise<{ table: TableClient; etag: string; path: string }> {
  const table = await server.makeTable();
  const { etag } = await table.createEntity({ ...KEYS, n: 0 });
  const path = `/${table.tableName}(PartitionKey='p',RowKey='r')`;
  return { table, etag: etag as string, path };
}

async function valueOfN(table: TableClient): Promise<unknown> {
  return (await table.getEntity("p", "r")).n;
}

for (const mode of ["Replace", "Merge"] as const) {
  test(`${mode}: a matching ETag updates, a stale one gets 412, * always updates`, async () => {
    const { table, etag } = await withEntity();
    const second = await table.updateEntity({ ...KEYS, n: 1 }, mode, { etag });
    assert.notEqual(second.etag, etag);
    const stale = table.updateEntity({ ...KEYS, n: 2 }, mode, { etag });
    await refused(stale, 412, "UpdateConditionNotSatisfied");
    assert.equal(await valueOfN(table), 1);
    await table.updateEntity({ ...KEYS, n: 3 }, mode, { etag: "*" });
    assert.equal(await valueOfN(table), 3);
  });

  test(`Insert-Or-${mode} checks nothing: the last writer wins`, async () => {
    const table = await server.makeTable();
    const first = await table.upsertEntity({ ...KEYS, n: 1 }, mode);
    const second = await table.upsertEntity({ ...KEYS, n: 2 }, mode);
    assert.ok(first.etag !== undefined && second.etag !== undefined);
    assert.notEqual(first.etag, second.etag);
    assert.equal(await valueOfN(table), 2);
  });
}

test("delete: a matching ETag or * deletes, a stale one gets 412, none gets 400", async () => {
  const { table, etag, path } = await withEntity();
  await refused(table.deleteEntity("p", "r", { etag: STALE }), 412, "UpdateConditionNotSatisfied");
  const without = await outcome(tableRequest(server, { method: "DELETE", path }));
  assert.deepEqual(without, [400, "MissingRequiredHeader"]);
  assert.equal(await valueOfN(table), 0);
  const headers = { "if-match": etag };
  const deleted = await tableRequest(server, { method: "DELETE", path, headers });
  assert.deepEqual([deleted.status, deleted.headers.get("etag")], [204, null]);
  await table.createEntity(KEYS);
  await table.deleteEntity("p", "r", { etag: "*" });
  await refused(table.getEntity("p", "r"), 404, "ResourceNotFound");
});

test("an update of a missing entity gets 404, whatever the ETag", async () => {
  const table = await server.makeTable();
  for (const etag of ["*", STALE]) {
    for (const mode of ["Replace", "Merge"] as const) {
      const update = table.updateEntity({ ...KEYS, n: 1 }, mode, { etag });
      await refused(update, 404, "ResourceNotFound");
    }
    await refused(table.deleteEntity("p", "r", { etag }), 404, "ResourceNotFound");
  }
});

test("an insert of an existing entity gets 409 and changes nothing", async () => {
  const { table, etag } = await withEntity();
  await refused(table.createEntity({ ...KEYS, n: 1 }), 409, "EntityAlreadyExists");
  const found = await table.getEntity("p", "r");
  assert.deepEqual([found.n, found.etag], [0, etag]);
});

test("every operation but delete returns the ETag that a read returns", async () => {
  const table = await server.makeTable();
  const readEtag = async () => (await table.getEntity("p", "r")).etag;
  const etags = new Set<string | undefined>();
  for (const write of [
    () => table.createEntity(KEYS),
    () => table.updateEntity(KEYS, "Replace"),
    () => table.updateEntity(KEYS, "Merge"),
    () => table.upsertEntity(KEYS, "Replace"),
    () => table.upsertEntity(KEYS, "Merge"),
  ]) {
    const { etag } = await write();
    assert.equal(etag, await readEtag());
    const [listed] = (await table.listEntities().byPage().next()).value;
    assert.equal(listed.etag, etag);
    etags.add(etag);
  }
  // The clock stood still, and the ETags differ nevertheless.
  assert.equal(etags.size, 5);
});

test("a malformed ETag or If-None-Match is refused, and nothing changes", async () => {
  const { table, path } = await withEntity();
  for (const headers of [
    { "if-match": "" },
    { "if-match": "x" },
    { "if-match": '"0x8DB1C2D3E4F5A6B"' },
    { "if-match": `${STALE}, ${STALE}` },
    { "if-none-match": "*" },
    { "if-match": "*", "if-none-match": STALE },
  ]) {
    for (const method of ["PUT", "MERGE", "DELETE"]) {
      const body = method === "DELETE" ? {} : { body: '{"n":9}' };
      const asked = { method, path, headers: headers as Record<string, string>, ...body };
      assert.deepEqual(await outcome(tableRequest(server, asked)), [400, "InvalidInput"]);
    }
  }
  assert.equal(await valueOfN(table), 0);
});

test("a weak ETag that no entity ever had gets 412, and nothing changes", async () => {
  const { table, path } = await withEntity();
  for (const etag of ['W/""', 'W/"0x8DB1C2D3E4F5A6B"', "W/\"datetime'yesterday'\""]) {
    for (const method of ["PUT", "MERGE", "DELETE"]) {
      const body = method === "DELETE" ? {} : { body: '{"n":9}' };
      const asked = { method, path, headers: { "if-match": etag }, ...body };
      const found = await outcome(tableRequest(server, asked));
      assert.deepEqual(found, [412, "UpdateConditionNotSatisfied"]);
    }
    await refused(table.deleteEntity("p", "r", { etag }), 412, "UpdateConditionNotSatisfied");
  }
  assert.equal(await valueOfN(table), 0);
});

test("an ETag is accepted with its colons encoded or not", async () => {
  const { table, etag } = await withEntity();
  const plain = etag.replaceAll("%3A", ":");
  const { etag: next } = await table.updateEntity({ ...KEYS, n: 1 }, "Replace", { etag: plain });
  await table.deleteEntity("p", "r", { etag: next?.replaceAll("%3A", "%3a") ?? "" });
});

test("of 20 concurrent updates with one ETag, one wins", async () => {
  for (let round = 0; round < 5; round++) {
    const { table, etag } = await withEntity();
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) =>
        table.updateEntity({ ...KEYS, n: n + 1 }, n % 2 ? "Merge" : "Replace", { etag }),
      ),
    );
    const won = results.flatMap(({ status }, at) => (status === "fulfilled" ? [at + 1] : []));
    assert.equal(won.length, 1);
    assert.equal(await valueOfN(table), won[0]);
    for (const result of results) {
      if (result.status === "rejected") assert.equal((result.reason as RestError).statusCode, 412);
    }
  }
});

test("of 20 concurrent inserts, one wins", async () => {
  const table = await server.makeTable();
  const all = Array.from({ length: 20 }, () =>
    table.createEntity(KEYS).then(
      () => 1,
      () => 0,
    ),
  );
  assert.equal(
    (await Promise.all(all)).reduce<number>((sum, one) => sum + one, 0),
    1,
  );
});

test("20 clients that increment with optimistic concurrency lose nothing", async () => {
  const { table } = await withEntity();
  await Promise.all(Array.from({ length: 20 }, () => addOne(table)));
  assert.equal(await valueOfN(table), 20);
});

async function addOne(table: TableClient): Promise<void> {
  for (;;) {
    const { n, etag } = await table.getEntity("p", "r");
    const next = { ...KEYS, n: Number(n) + 1 };
    try {
      await table.updateEntity(next, "Replace", { etag: etag as string });
      return;
    } catch (error) {
      assert.equal((error as RestError).statusCode, 412);
    }
  }
}

test("a reader never sees half a batch", async () => {
  const table = await server.makeTable();
  const put = (n: number): TransactionAction[] =>
    Array.from({ length: 50 }, (_, row) => [
      "upsert",
      { partitionKey: "p", rowKey: String(row), n },
      "Replace",
    ]);
  await table.submitTransaction(put(0));
  let isOver = false;
  const writing = (async () => {
    for (let n = 1; n <= 20; n++) await table.submitTransaction(put(n));
    isOver = true;
  })();
  let reads = 0;
  while (!isOver || reads === 0) {
    const page = (await table.listEntities().byPage().next()).value;
    assert.equal(page.length, 50);
    assert.equal(new Set(page.map(({ n }: { n: number }) => n)).size, 1);
    reads++;
  }
  await writing;
});

test("tables have no ETag and ignore conditions", async () => {
  const table = await server.makeTable();
  const path = `/Tables('${table.tableName}')`;
  const found = await tableRequest(server, { path });
  assert.deepEqual([found.status, found.headers.get("etag")], [200, null]);
  const headers = { "if-match": STALE };
  assert.equal((await tableRequest(server, { method: "DELETE", path, headers })).status, 204);
});
