import assert from "node:assert/strict";
import { test } from "node:test";
import azure from "azure-storage";
import { forThisFile } from "../sdk/server.ts";
import { startTableServer } from "../sdk/table-server.ts";
import { answerOf, hostsOf, policyOf, refusedLegacy, statsOf } from "./legacy-answer.ts";

const { entityGenerator: edm, PayloadFormat } = azure.TableUtilities;
const { TableBatch, TableQuery } = azure;

const server = await forThisFile(startTableServer());
const tables = azure.createTableService(server.account, server.key, hostsOf(server.url));
let count = 0;

async function makeTable(): Promise<string> {
  const name = `Legacy${++count}`;
  await answerOf(tables, "createTable", name);
  return name;
}

interface Value {
  readonly _: unknown;
  readonly $?: string;
}
type Entity = Record<string, Value> & { readonly ".metadata": { readonly etag: string } };

interface Page {
  readonly entries: readonly Entity[];
  readonly continuationToken: object | null;
}

function keys(row: string) {
  return { PartitionKey: edm.String("p"), RowKey: edm.String(row) };
}

function retrieve(table: string, row: string, options: object = {}): Promise<Entity> {
  return answerOf<Entity>(tables, "retrieveEntity", table, "p", row, options);
}

async function rowsOf(table: string, service = tables, query = new TableQuery()) {
  const rows: unknown[] = [];
  for (let token: object | null = null; ; ) {
    const page: Page = await answerOf<Page>(service, "queryEntities", table, query, token);
    rows.push(...page.entries.map(({ RowKey }) => RowKey?._));
    token = page.continuationToken;
    if (token === null) return rows;
  }
}

test("tables are created, listed, checked for existence and deleted", async () => {
  const name = await makeTable();
  const again = await answerOf<{ created: boolean }>(tables, "createTableIfNotExists", name);
  assert.equal(again.created, false);
  await refusedLegacy(answerOf(tables, "createTable", name), 409, "TableAlreadyExists");
  const exists = async (table: string) =>
    (await answerOf<{ exists: boolean }>(tables, "doesTableExist", table)).exists;
  assert.deepEqual([await exists(name), await exists("nope")], [true, false]);
  const list = await answerOf<Page>(tables, "listTablesSegmentedWithPrefix", "Leg", null);
  assert.ok((list.entries as readonly unknown[]).includes(name));
  await answerOf(tables, "deleteTable", name);
  assert.equal(await answerOf(tables, "deleteTableIfExists", name), false);
});

const TYPED = {
  text: edm.String("it's ünïcode & <xml>"),
  int: edm.Int32(-5),
  long: edm.Int64("9007199254740993"),
  double: edm.Double(1.5),
  yes: edm.Boolean(true),
  guid: edm.Guid("c9da6455-213d-42c9-9a79-3e9149a57833"),
  binary: edm.Binary(Buffer.from([0, 255, 128])),
  when: edm.DateTime(new Date(Date.UTC(2011, 10, 25, 1, 2, 3, 4))),
};

test("every type is returned as it was sent, annotated where JSON does not show it", async () => {
  const table = await makeTable();
  await answerOf(tables, "insertEntity", table, { ...keys("r"), ...TYPED });
  for (const payloadFormat of [PayloadFormat.MINIMAL_METADATA, PayloadFormat.FULL_METADATA]) {
    const found = await retrieve(table, "r", { payloadFormat });
    for (const [name, sent] of Object.entries(TYPED)) {
      assert.deepEqual(found[name]?._, sent._, `${name} ${payloadFormat}`);
      const isTold = ["long", "guid", "binary", "when"].includes(name);
      assert.equal(found[name]?.$, isTold ? sent.$ : undefined, `${name} ${payloadFormat}`);
    }
  }
  const bare = await retrieve(table, "r", { payloadFormat: PayloadFormat.NO_METADATA });
  assert.deepEqual(bare.long, { _: "9007199254740993" });
});

test("an inserted entity is echoed on request, and only then", async () => {
  const table = await makeTable();
  const insert = (row: string, echoContent: boolean) =>
    answerOf<Entity>(tables, "insertEntity", table, keys(row), { echoContent });
  assert.equal((await insert("1", true)).RowKey?._, "1");
  assert.deepEqual(Object.keys(await insert("2", false)), [".metadata"]);
});

test("a write with an old ETag is refused, and one without forces it", async () => {
  const table = await makeTable();
  await answerOf(tables, "insertEntity", table, { ...keys("r"), n: edm.Int32(1) });
  const read = await retrieve(table, "r");
  await answerOf(tables, "replaceEntity", table, { ...read, n: edm.Int32(2) });
  for (const method of ["replaceEntity", "mergeEntity", "deleteEntity"]) {
    const stale = answerOf(tables, method, table, { ...read, n: edm.Int32(3) });
    await refusedLegacy(stale, 412, "UpdateConditionNotSatisfied");
  }
  await answerOf(tables, "replaceEntity", table, { ...keys("r"), n: edm.Int32(4) });
  assert.equal((await retrieve(table, "r")).n?._, 4);
  await answerOf(tables, "deleteEntity", table, keys("r"));
  await refusedLegacy(retrieve(table, "r"), 404, "ResourceNotFound");
});

test("merge preserves omitted properties, replace drops them, and both can insert", async () => {
  const table = await makeTable();
  const write = (method: string, row: string, own: object) =>
    answerOf(tables, method, table, { ...keys(row), ...own });
  await write("insertOrMergeEntity", "it's", { a: edm.Int32(1) });
  await write("mergeEntity", "it's", { b: edm.Int32(2) });
  const merged = await retrieve(table, "it's");
  assert.deepEqual([merged.a?._, merged.b?._], [1, 2]);
  await write("insertOrReplaceEntity", "it's", { c: edm.Int32(3) });
  const replaced = await retrieve(table, "it's");
  assert.deepEqual([replaced.a, replaced.c?._], [undefined, 3]);
  await write("insertOrReplaceEntity", "new", {});
  assert.deepEqual(await rowsOf(table), ["it's", "new"]);
  await refusedLegacy(write("mergeEntity", "gone", {}), 404, "ResourceNotFound");
});

test("queries filter by typed values, select, and continue page by page", async () => {
  const table = await makeTable();
  for (let n = 0; n < 7; n++) {
    const own = { n: edm.Int32(n), long: edm.Int64(String(n)) };
    await answerOf(tables, "insertEntity", table, { ...keys(`${n}`), ...own });
  }
  const some = new TableQuery().where("n ge ? and not (n eq ?)", 3, 5);
  assert.deepEqual(await rowsOf(table, tables, some), ["3", "4", "6"]);
  assert.deepEqual(await rowsOf(table, tables, new TableQuery().top(2)), [..."0123456"]);
  const long = new TableQuery().where(TableQuery.int64Filter("long", "lt", "2"));
  assert.deepEqual(await rowsOf(table, tables, long), ["0", "1"]);
  const select = new TableQuery().select("n");
  const { entries } = await answerOf<Page>(tables, "queryEntities", table, select, null);
  assert.deepEqual(Object.keys(entries[0] as Entity), ["n", ".metadata"]);
});

interface PartAnswer {
  readonly response: { readonly statusCode: number };
  readonly entity: Entity;
}

test("a batch happens as a whole, and reports the index of a failed operation", async () => {
  const table = await makeTable();
  const batch = new TableBatch();
  for (const row of ["1", "2", "it's"]) batch.insertEntity(keys(row), { echoContent: row === "1" });
  const answers = await answerOf<PartAnswer[]>(tables, "executeBatch", table, batch);
  const statuses = answers.map(({ response }) => response.statusCode);
  assert.deepEqual(statuses, [201, 204, 204]);
  const mixed = new TableBatch();
  mixed.mergeEntity({ ...keys("1"), a: edm.Int32(1) });
  mixed.deleteEntity(keys("2"));
  mixed.insertOrReplaceEntity(keys("3"));
  mixed.insertEntity(keys("it's"), {});
  const failed = answerOf(tables, "executeBatch", table, mixed);
  assert.match(await refusedLegacy(failed, 409, "EntityAlreadyExists"), /^3:/);
  assert.deepEqual(await rowsOf(table), ["1", "2", "it's"]);
  const one = new TableBatch();
  one.retrieveEntity("p", "it's");
  const [read] = await answerOf<[PartAnswer]>(tables, "executeBatch", table, one);
  assert.equal(read.entity.RowKey?._, "it's");
});

test("a SAS permits its key range and its operations, alone or by a stored policy", async () => {
  const table = await makeTable();
  for (const row of ["a", "b c", "d+e", "f%g"]) {
    await answerOf(tables, "insertEntity", table, keys(row));
  }
  const range = policyOf("r", { StartPk: "p", StartRk: "b c", EndPk: "p", EndRk: "d+e" });
  const sas = tables.generateSharedAccessSignature(table, range);
  const opened = azure.createTableServiceWithSas(server.url, sas);
  assert.deepEqual(await rowsOf(table, opened), ["b c", "d+e"]);
  const write = answerOf(opened, "insertEntity", table, keys("c"));
  await refusedLegacy(write, 403, "AuthorizationPermissionMismatch");

  const { AccessPolicy } = policyOf("ra");
  await answerOf(tables, "setTableAcl", table, { mine: AccessPolicy });
  const policy = { Id: "mine" } as azure.common.SharedAccessPolicy;
  const stored = tables.generateSharedAccessSignature(table, policy);
  const named = azure.createTableServiceWithSas(server.url, stored);
  await answerOf(named, "insertEntity", table, keys("z"));
  assert.equal((await rowsOf(table, named)).length, 5);
  await answerOf(tables, "setTableAcl", table, {});
  const revoked = answerOf(named, "insertEntity", table, keys("zz"));
  await refusedLegacy(revoked, 403, "AuthenticationFailed");
});

test("service properties and stats are read and written", async () => {
  const RetentionPolicy = { Enabled: true, Days: 3 };
  const HourMetrics = { Version: "1.0", Enabled: true, IncludeAPIs: true, RetentionPolicy };
  await answerOf(tables, "setServiceProperties", { HourMetrics });
  const found = await answerOf<{ HourMetrics: object }>(tables, "getServiceProperties");
  assert.deepEqual(found.HourMetrics, HourMetrics);
  const stats = await statsOf(tables);
  assert.equal(stats.GeoReplication?.Status, "live");
});
