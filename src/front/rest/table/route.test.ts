import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../../base/fault.ts";
import { parseQuery } from "../http/query.ts";
import { routeTable } from "./route.ts";

function routed(method: string, target: string, headers: Readonly<Record<string, string>> = {}) {
  const [path = "", query = ""] = target.split("?");
  try {
    const get = (name: string) => headers[name];
    return routeTable(method, path, parseQuery(query), { get, raw: [] });
  } catch (error) {
    assert.ok(error instanceof Fault);
    return error.code;
  }
}

function entity(rest: string) {
  const route = routed("GET", `/Table${rest}`);
  return typeof route === "string" ? route : route.place;
}

test("every operation has its route", () => {
  for (const [method, target, operation, headers] of [
    ["GET", "/?restype=service&comp=properties", "getServiceProperties"],
    ["PUT", "/?restype=service&comp=properties", "setServiceProperties"],
    ["GET", "/?restype=service&comp=stats", "getServiceStats"],
    ["GET", "/Tables", "queryTables"],
    ["GET", "/Tables()", "queryTables"],
    ["POST", "/Tables", "createTable"],
    ["GET", "/Tables('abc')", "getTable"],
    ["DELETE", "/Tables('abc')", "deleteTable"],
    ["POST", "/$batch", "batch"],
    ["GET", "/abc", "queryEntities"],
    ["GET", "/abc()", "queryEntities"],
    ["POST", "/abc", "insertEntity"],
    ["GET", "/abc?comp=acl", "getTableAcl"],
    ["PUT", "/abc?comp=acl", "setTableAcl"],
    ["GET", "/abc(PartitionKey='',RowKey='')", "getEntity"],
    ["PUT", "/abc(PartitionKey='',RowKey='')", "insertOrReplaceEntity"],
    ["PUT", "/abc(PartitionKey='',RowKey='')", "updateEntity", { "if-match": "*" }],
    ["MERGE", "/abc(PartitionKey='',RowKey='')", "insertOrMergeEntity"],
    ["PATCH", "/abc(PartitionKey='',RowKey='')", "mergeEntity", { "if-match": "*" }],
    ["DELETE", "/abc(PartitionKey='',RowKey='')", "deleteEntity"],
    [
      "POST",
      "/abc(PartitionKey='',RowKey='')",
      "insertOrMergeEntity",
      { "x-http-method": "MERGE" },
    ],
  ] as const) {
    const route = routed(method, target, headers);
    assert.equal(typeof route === "string" ? route : route.operation, operation, target);
  }
});

test("keys come in either order, with blanks, and percent-encoded", () => {
  const place = { partition: "p", row: "r" };
  assert.deepEqual(entity("(PartitionKey='p',RowKey='r')"), place);
  assert.deepEqual(entity("(RowKey='r',PartitionKey='p')"), place);
  assert.deepEqual(entity("(PartitionKey='p',%20RowKey='r')"), place);
  assert.deepEqual(entity("(PartitionKey=%27p%27,RowKey=%27r%27)"), place);
  assert.deepEqual(entity("%28PartitionKey='p',RowKey='r'%29"), place);
});

test("a quote in a key is written twice", () => {
  assert.deepEqual(entity("(PartitionKey='it''s',RowKey='''')"), { partition: "it's", row: "'" });
  assert.deepEqual(entity("(PartitionKey='a,RowKey=''b',RowKey='(%2F)')"), {
    partition: "a,RowKey='b",
    row: "(/)",
  });
});

test("a path that names nothing is refused", () => {
  for (const rest of [
    "(PartitionKey='p')",
    "(PartitionKey='p',RowKey=r)",
    "(PartitionKey='p'x,RowKey='r')",
    "('p')",
    "(PartitionKey='it's',RowKey='r')",
    "(PartitionKey='p',RowKey='r'",
    "/other",
    "(PartitionKey='%ff',RowKey='r')",
  ]) {
    assert.equal(entity(rest), "InvalidUri", rest);
  }
  assert.equal(routed("GET", "/"), "InvalidUri");
  assert.equal(routed("GET", "/$metadata"), "InvalidUri");
  assert.equal(routed("GET", "/Tables(abc)"), "InvalidUri");
  assert.equal(routed("GET", "/abc?comp=nothing"), "InvalidQueryParameterValue");
  assert.equal(routed("PUT", "/abc"), "MethodNotAllowed");
  assert.equal(routed("DELETE", "/Tables"), "MethodNotAllowed");
});

test("X-HTTP-Method replaces the method of a POST", () => {
  const path = "/abc(PartitionKey='',RowKey='')";
  assert.equal(routed("PUT", path, { "x-http-method": "MERGE" }), "XMethodNotUsingPost");
  assert.equal(routed("POST", path, { "x-http-method": "MERGE, PUT" }), "XMethodIncorrectCount");
  assert.equal(routed("POST", path, { "x-http-method": "GET" }), "XMethodIncorrectValue");
});
