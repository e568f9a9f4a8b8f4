import assert from "node:assert/strict";
import { test } from "node:test";
import { refused } from "./refused.ts";
import { forThisFile } from "./server.ts";
import { outcome, startTableServer, tableRequest } from "./table-server.ts";

const server = await forThisFile(startTableServer());

function create(name: unknown, headers: Record<string, string> = {}) {
  const body = JSON.stringify({ TableName: name });
  return tableRequest(server, { method: "POST", path: "/Tables", headers, body });
}

test("a table is created once, and keeps the case of its name", async () => {
  const table = server.table("MixedCase");
  await table.createTable();
  assert.deepEqual(await outcome(create("MIXEDCASE")), [409, "TableAlreadyExists"]);
  await server.table("mixedcase").createEntity({ partitionKey: "p", rowKey: "r" });
  await table.getEntity("p", "r");
  const found = await tableRequest(server, { path: "/Tables('mixedCASE')" });
  assert.equal(JSON.parse(found.text).TableName, "MixedCase");
});

test("Prefer and the metadata level decide what Create Table returns", async () => {
  const silent = await create("Silent", { prefer: "return-no-content" });
  assert.deepEqual([silent.status, silent.text], [204, ""]);
  assert.equal(silent.headers.get("preference-applied"), "return-no-content");
  const full = await create("Full", { accept: "application/json;odata=fullmetadata" });
  assert.equal(full.status, 201);
  assert.deepEqual(JSON.parse(full.text), {
    "odata.metadata": `${server.url}/$metadata#Tables/@Element`,
    "odata.type": "devstoreaccount1.Tables",
    "odata.id": `${server.url}/Tables('Full')`,
    "odata.editLink": "Tables('Full')",
    TableName: "Full",
  });
  const none = await create("None", { accept: "application/json;odata=nometadata" });
  assert.equal(none.text, '{"TableName":"None"}');
});

test("invalid table names are refused", async () => {
  for (const [name, code] of [
    ["ab", "OutOfRangeInput"],
    ["x".repeat(64), "OutOfRangeInput"],
    ["", "OutOfRangeInput"],
    ["1abc", "InvalidResourceName"],
    ["a-b-c", "InvalidResourceName"],
    ["tables", "InvalidResourceName"],
    [5, "PropertiesNeedValue"],
    [undefined, "PropertiesNeedValue"],
  ] as const) {
    assert.deepEqual(await outcome(create(name)), [400, code], String(name));
  }
});

test("a deleted table is gone at once, and its name is free for an empty one", async () => {
  const table = await server.makeTable();
  await table.createEntity({ partitionKey: "p", rowKey: "r" });
  await table.deleteTable();
  await refused(table.getEntity("p", "r"), 404, "TableNotFound");
  await refused(table.createEntity({ partitionKey: "p", rowKey: "r" }), 404, "TableNotFound");
  const path = `/Tables('${table.tableName}')`;
  const again = tableRequest(server, { method: "DELETE", path });
  assert.deepEqual(await outcome(again), [404, "ResourceNotFound"]);
  await table.createTable();
  assert.equal((await table.listEntities().byPage().next()).value.length, 0);
});

test("tables are listed in pages, sorted by name, and filtered", async () => {
  const names = ["ListB", "lista", "ListC", "other"].map((name) => `${name}x`);
  for (const name of names) await server.table(name).createTable();
  const list = async (filter: string, maxPageSize = 1_000) => {
    const found: string[] = [];
    const pages = server.client().listTables({ queryOptions: { filter } });
    for await (const page of pages.byPage({ maxPageSize })) {
      found.push(...page.map(({ name }) => name as string));
    }
    return found;
  };
  const filter = "TableName ge 'L' and TableName lt 'M' or TableName eq 'listax'";
  for (const size of [1, 2, 1_000]) {
    assert.deepEqual(await list(filter, size), ["listax", "ListBx", "ListCx"]);
  }
  const all = await list("", 2);
  assert.equal(new Set(all).size, all.length);
  for (const name of names) assert.ok(all.includes(name));
});

test("an ACL comes back as it was set; more than five policies are refused", async () => {
  const table = await server.makeTable();
  const start = new Date(Date.UTC(2026, 0, 2));
  const accessPolicy = { start, expiry: new Date(Date.UTC(2030, 0, 2)), permission: "raud" };
  await table.setAccessPolicy([{ id: "all & <more>", accessPolicy }, { id: "bare" }]);
  const found = await table.getAccessPolicy();
  assert.deepEqual(
    found.map(({ id }) => id),
    ["all & <more>", "bare"],
  );
  assert.deepEqual(found[0]?.accessPolicy, accessPolicy);
  const acl = await tableRequest(server, { path: `/${table.tableName}?comp=acl` });
  assert.match(acl.text, /<SignedIdentifier><Id>bare<\/Id><\/SignedIdentifier>/);
  const six = ["1", "2", "3", "4", "5", "6"].map((id) => ({ id }));
  await assert.rejects(table.setAccessPolicy(six), { statusCode: 400 });
  const wrong = [{ id: "x", accessPolicy: { permission: "w" } }];
  await assert.rejects(table.setAccessPolicy(wrong), { statusCode: 400 });
  assert.equal((await table.getAccessPolicy()).length, 2);
  await table.setAccessPolicy([]);
  assert.deepEqual(await table.getAccessPolicy(), []);
  await assert.rejects(server.table("missing").getAccessPolicy(), { statusCode: 404 });
});

test("service properties and statistics are available", async () => {
  const client = server.client();
  const cors = [
    {
      allowedOrigins: "http://page.example",
      allowedMethods: "GET,MERGE",
      allowedHeaders: "*",
      exposedHeaders: "*",
      maxAgeInSeconds: 60,
    },
  ];
  await client.setProperties({ cors });
  assert.deepEqual((await client.getProperties()).cors, cors);
  const headers = { origin: "http://page.example" };
  const answer = await tableRequest(server, { path: "/Tables", headers });
  assert.equal(answer.headers.get("access-control-allow-origin"), "http://page.example");
  await client.setProperties({ cors: [] });
});

test("service statistics are live on the secondary endpoint, and refused on the primary", async () => {
  const path = "/?restype=service&comp=stats";
  const asked = { path, headers: { accept: "application/xml" } };
  const primary = await tableRequest(server, asked);
  assert.deepEqual([primary.status, primary.code], [400, "InvalidQueryParameterValue"]);
  const secondary = await tableRequest(server, { ...asked, path: `-secondary${path}` });
  assert.match(secondary.text, /<Status>live<\/Status>/);
});

test("an error is an odata.error with the code in the body and in a header", async () => {
  const answer = await tableRequest(server, { path: "/missing()" });
  assert.deepEqual([answer.status, answer.code], [404, "TableNotFound"]);
  const { code, message } = JSON.parse(answer.text)["odata.error"];
  assert.equal(code, "TableNotFound");
  assert.match(message.value, /^The table specified does not exist\.\nRequestId:\S+\nTime:\S+Z$/);
});
