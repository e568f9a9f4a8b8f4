import assert from "node:assert/strict";
import { test } from "node:test";
import { forThisFile } from "./server.ts";
import { outcome, startTableServer, tableRequest } from "./table-server.ts";

const server = await forThisFile(startTableServer());

function withProperty(json: string): string {
  return `{"PartitionKey":"p","RowKey":"r",${json}}`;
}

function properties(count: number): string {
  return withProperty(Array.from({ length: count }, (_, at) => `"p${at}":1`).join(","));
}

function texts(count: number, chars: number): string {
  const value = JSON.stringify("x".repeat(chars));
  return withProperty(Array.from({ length: count }, (_, at) => `"p${at}":${value}`).join(","));
}

const REFUSED: readonly [body: string, status: number, code: string][] = [
  ["", 400, "InvalidInput"],
  ["{", 400, "InvalidInput"],
  ["[]", 400, "InvalidInput"],
  ["<entry />", 400, "InvalidInput"],
  [withProperty('"a":{}'), 400, "InvalidInput"],
  [withProperty('"a":[1]'), 400, "InvalidInput"],
  [withProperty('"a":1,"a":2'), 400, "DuplicatePropertiesSpecified"],
  ['{"PartitionKey":"p"}', 400, "PropertiesNeedValue"],
  ['{"RowKey":"r"}', 400, "PropertiesNeedValue"],
  ['{"PartitionKey":null,"RowKey":"r"}', 400, "PropertiesNeedValue"],
  ['{"PartitionKey":1,"RowKey":"r"}', 400, "InvalidValueType"],
  [withProperty('"a-b":1'), 400, "PropertyNameInvalid"],
  [withProperty('"":1'), 400, "PropertyNameInvalid"],
  [withProperty(`"${"x".repeat(256)}":1`), 400, "PropertyNameTooLong"],
  [withProperty('"a@odata.type":"Edm.Binary","a":"%"'), 400, "InvalidValueType"],
  [withProperty('"a@odata.type":"Edm.Int64","a":"x"'), 400, "InvalidValueType"],
  [withProperty('"a@odata.type":"Edm.Guid","a":"x"'), 400, "InvalidValueType"],
  [withProperty('"a@odata.type":"Edm.DateTime","a":"x"'), 400, "InvalidValueType"],
  [withProperty('"a@odata.type":"Edm.Int32","a":2147483648'), 400, "InvalidValueType"],
  [withProperty('"a@odata.type":"Edm.Other","a":1'), 400, "InvalidValueType"],
  [withProperty('"a@odata.type":5,"a":1'), 400, "InvalidValueType"],
  [properties(253), 400, "TooManyProperties"],
  [texts(1, 32_769), 400, "PropertyValueTooLarge"],
  [texts(16, 32_768), 400, "EntityTooLarge"],
  [texts(130, 32_768), 413, "RequestBodyTooLarge"],
];

test("invalid entities are refused by every write, and nothing is stored", async () => {
  const table = await server.makeTable();
  const path = `/${table.tableName}`;
  const entity = `${path}(PartitionKey='p',RowKey='r')`;
  for (const [body, status, code] of REFUSED) {
    const what = `${code} ${body.slice(0, 80)}`;
    const asked = { method: "POST", path, body };
    assert.deepEqual(await outcome(tableRequest(server, asked)), [status, code], what);
    if (code === "PropertiesNeedValue") continue;
    for (const method of ["PUT", "MERGE"]) {
      const upsert = { method, path: entity, body };
      assert.deepEqual(await outcome(tableRequest(server, upsert)), [status, code], what);
    }
  }
  assert.equal((await table.listEntities().byPage().next()).value.length, 0);
});

test("an entity at the limits is stored", async () => {
  const table = await server.makeTable();
  const path = `/${table.tableName}(PartitionKey='p',RowKey='r')`;
  for (const body of [properties(252), texts(15, 32_768)]) {
    assert.equal((await tableRequest(server, { method: "PUT", path, body })).status, 204);
    const found = await tableRequest(server, { path });
    assert.ok(found.text.length > body.length);
  }
});

test("a merge that makes an entity too large is refused, and the old one stays", async () => {
  const table = await server.makeTable();
  const path = `/${table.tableName}(PartitionKey='p',RowKey='r')`;
  const put = (method: string, body: string) => tableRequest(server, { method, path, body });
  assert.equal((await put("PUT", properties(252))).status, 204);
  assert.deepEqual(await outcome(put("MERGE", '{"more":1}')), [400, "TooManyProperties"]);
  assert.equal((await put("MERGE", '{"p0":2}')).status, 204);
  assert.equal((await put("PUT", texts(15, 32_768))).status, 204);
  const more = JSON.stringify({ more: "x".repeat(32_768) });
  assert.deepEqual(await outcome(put("MERGE", more)), [400, "EntityTooLarge"]);
  assert.equal("more" in (await table.getEntity("p", "r")), false);
});

test("keys in a body that differ from those in the URL are refused", async () => {
  const table = await server.makeTable();
  const path = `/${table.tableName}(PartitionKey='p',RowKey='r')`;
  const put = (body: string) => outcome(tableRequest(server, { method: "PUT", path, body }));
  assert.deepEqual(await put('{"PartitionKey":"q"}'), [400, "InvalidInput"]);
  assert.deepEqual(await put('{"PartitionKey":"p","RowKey":"x"}'), [400, "InvalidInput"]);
  assert.deepEqual(await put('{"PartitionKey":"p","RowKey":"r"}'), [204, ""]);
});

test("an entity can be sent back as it was received", async () => {
  const table = await server.makeTable();
  await table.createEntity({ partitionKey: "p", rowKey: "r", n: 5n });
  const path = `/${table.tableName}(PartitionKey='p',RowKey='r')`;
  const headers = { accept: "application/json;odata=fullmetadata" };
  const { text } = await tableRequest(server, { path, headers });
  assert.equal((await tableRequest(server, { method: "PUT", path, body: text })).status, 204);
  const found = await table.getEntity("p", "r");
  assert.deepEqual([found.n, found["odata.id"]], [5n, undefined]);
});

test("invalid URLs and methods are refused", async () => {
  const table = await server.makeTable();
  const path = `/${table.tableName}`;
  for (const [method, target, status, code] of [
    ["GET", "/", 400, "InvalidUri"],
    ["GET", `${path}(PartitionKey='p')`, 400, "InvalidUri"],
    ["GET", `${path}/other`, 400, "InvalidUri"],
    ["GET", "/a!b()", 400, "InvalidResourceName"],
    ["GET", "/x()", 400, "OutOfRangeInput"],
    ["PUT", path, 405, "MethodNotAllowed"],
    ["DELETE", "/Tables", 405, "MethodNotAllowed"],
    ["GET", "/$batch", 405, "MethodNotAllowed"],
    ["GET", `${path}?comp=other`, 400, "InvalidQueryParameterValue"],
  ] as const) {
    const found = await outcome(tableRequest(server, { method, path: target }));
    assert.deepEqual(found, [status, code], `${method} ${target}`);
  }
});
