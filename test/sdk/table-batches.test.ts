import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { type TableClient, TableTransaction, type TransactionAction } from "@azure/data-tables";
import { refused } from "./refused.ts";
import { CREDENTIAL, forThisFile } from "./server.ts";
import { outcome, startTableServer, tableRequest } from "./table-server.ts";

const server = await forThisFile(startTableServer());

function entity(rowKey: string, more: object = {}) {
  return { partitionKey: "p", rowKey, ...more };
}

async function rowsOf(table: TableClient): Promise<string[]> {
  const rows: string[] = [];
  for await (const { rowKey } of table.listEntities()) rows.push(rowKey as string);
  return rows;
}

test("a batch with every kind of write is applied as a whole", async () => {
  const table = await server.makeTable();
  for (const row of ["replace", "merge", "delete"]) await table.createEntity(entity(row, { a: 1 }));
  const transaction = new TableTransaction();
  transaction.createEntity(entity("insert", { a: 5 }));
  transaction.updateEntity(entity("replace", { b: 2 }), "Replace");
  transaction.updateEntity(entity("merge", { b: 2 }), "Merge");
  transaction.upsertEntity(entity("upsert"), "Replace");
  transaction.upsertEntity(entity("upsert merge"), "Merge");
  transaction.deleteEntity("p", "delete");
  const done = await table.submitTransaction(transaction.actions);
  assert.deepEqual(
    done.subResponses.map(({ status, etag }) => [status, etag !== undefined]),
    [...Array(5).fill([204, true]), [204, false]],
  );
  assert.equal(new Set(done.subResponses.map(({ etag }) => etag)).size, 6);
  assert.deepEqual(await rowsOf(table), ["insert", "merge", "replace", "upsert", "upsert merge"]);
  const merged = await table.getEntity("p", "merge");
  assert.deepEqual([merged.a, merged.b], [1, 2]);
  assert.equal((await table.getEntity("p", "replace")).a, undefined);
});

test("a refusal names the operation by its index, and nothing is applied", async () => {
  const table = await server.makeTable();
  const { etag } = await table.createEntity(entity("there", { n: 1 }));
  const stale = "W/\"datetime'0001-01-01T00%3A00%3A00Z'\"";
  const first: TransactionAction[] = [
    ["create", entity("0")],
    ["upsert", entity("there", { n: 2 }), "Replace"],
  ];
  for (const [action, status, code] of [
    [["create", entity("x".repeat(1_025))], 400, "KeyValueTooLarge"],
    [["update", entity("gone"), "Replace", { etag: "*" }], 404, "ResourceNotFound"],
    [["delete", entity("gone")], 404, "ResourceNotFound"],
    [["create", entity("a", { "bad-name": 1 })], 400, "PropertyNameInvalid"],
    [["create", entity("0")], 400, "InvalidDuplicateRow"],
  ] as [TransactionAction, number, string][]) {
    const error = await refused(table.submitTransaction([...first, action]), status, code);
    assert.match(error.message, /^2:/, code);
  }
  const conflict = table.submitTransaction([
    ["update", entity("there", { n: 3 }), "Replace", { etag: stale }],
    ["create", entity("1")],
  ]);
  assert.match((await refused(conflict, 412, "UpdateConditionNotSatisfied")).message, /^0:/);
  const exists = table.submitTransaction([...first.slice(0, 1), ["create", entity("there")]]);
  assert.match((await refused(exists, 409, "EntityAlreadyExists")).message, /^1:The specified/);
  assert.deepEqual(await rowsOf(table), ["there"]);
  const found = await table.getEntity("p", "there");
  assert.deepEqual([found.n, found.etag], [1, etag]);
});

test("a batch has up to 100 operations", async () => {
  const table = await server.makeTable();
  const creates = (count: number): TransactionAction[] =>
    Array.from({ length: count }, (_, at) => ["create", entity(String(at))]);
  await refused(table.submitTransaction(creates(101)), 400, "InvalidInput");
  assert.deepEqual(await rowsOf(table), []);
  await table.submitTransaction(creates(100));
  assert.equal((await rowsOf(table)).length, 100);
});

test("a batch has up to 4 MiB", async () => {
  const table = await server.makeTable();
  const text = "x".repeat(32_000);
  const creates: TransactionAction[] = Array.from({ length: 10 }, (_, at) => [
    "create",
    entity(String(at), Object.fromEntries(Array.from({ length: 14 }, (_, n) => [`p${n}`, text]))),
  ]);
  await refused(table.submitTransaction(creates), 413, "RequestBodyTooLarge");
  await table.submitTransaction(creates.slice(0, 9));
});

test("a batch on a missing table is refused at its first operation", async () => {
  const batch = server.table("missing").submitTransaction([["create", entity("0")]]);
  assert.match((await refused(batch, 404, "TableNotFound")).message, /^0:/);
});

function created(row: string, partition = "p"): string {
  return JSON.stringify({ PartitionKey: partition, RowKey: row });
}

interface Raw {
  readonly method?: string;
  readonly url: string;
  readonly headers?: string;
  readonly body?: string;
}

function operation({ method = "POST", url, headers = "", body = created("raw") }: Raw): string {
  const head = "Content-Type: application/http\nContent-Transfer-Encoding: binary\n\n";
  const type = "Content-Type: application/json\n";
  return `${head}${method} ${url} HTTP/1.1\n${type}${headers}\n${body}\n`;
}

function changes(...operations: string[]): string {
  const inner = operations.map((one) => `--c\n${one}`).join("");
  return `--b\nContent-Type: multipart/mixed; boundary=c\n\n${inner}--c--\n--b--\n`;
}

function send(body: string, type = "multipart/mixed; boundary=b") {
  const headers = { "content-type": type };
  return tableRequest(server, { method: "POST", path: "/$batch", headers, body });
}

test("lines may end in LF, URLs may be relative, and Content-ID is returned", async () => {
  const table = await server.makeTable();
  const name = table.tableName;
  const body = (row: string) => {
    const url = `/devstoreaccount1/${name}(PartitionKey='p',RowKey='${row}''s%20')`;
    return changes(
      operation({ url: `${server.url}/${name}`, headers: "Content-ID: 7\n", body: created(row) }),
      operation({ method: "PUT", url, body: '{"n":1}' }),
      operation({ method: "MERGE", url: url.replace("%20", "%21"), body: "{}" }),
    );
  };
  for (const text of [body("lf"), body("crlf").replaceAll("\n", "\r\n")]) {
    const answer = await send(text);
    assert.equal(answer.status, 202, answer.text);
    const type = answer.headers.get("content-type") ?? "";
    assert.match(type, /^multipart\/mixed; boundary=batchresponse_/);
    assert.match(answer.text, /HTTP\/1.1 201 Created\r\nContent-ID: 7\r\n/);
    assert.equal(answer.text.match(/HTTP\/1.1 204 No Content/g)?.length, 2, answer.text);
    assert.ok(
      answer.text.includes('"RowKey":'),
      "an inserted entity is returned unless Prefer says otherwise",
    );
  }
  assert.deepEqual(await rowsOf(table), ["crlf", "crlf's ", "crlf's!", "lf", "lf's ", "lf's!"]);
});

test("the URL of an operation may leave out the account", async () => {
  const table = await server.makeTable();
  const url = `/${table.tableName}(PartitionKey='p',RowKey='short')`;
  const origin = new URL(server.url).origin;
  for (const address of [url, `${origin}${url.replace("short", "full")}`]) {
    const answer = await send(changes(operation({ method: "PUT", url: address, body: "{}" })));
    assert.match(answer.text, /HTTP\/1.1 204 No Content/);
  }
  assert.deepEqual(await rowsOf(table), ["full", "short"]);
});

test("a batch may hold one query instead", async () => {
  const table = await server.makeTable();
  await table.createEntity(entity("1", { n: 5 }));
  const query = (url: string) =>
    `--b\n${operation({ method: "GET", url, headers: "Accept: application/json;odata=nometadata\n", body: "" })}--b--`;
  const base = `${server.url}/${table.tableName}`;
  const list = await send(query(`${base}()?$filter=n%20eq%205&$select=n`));
  assert.equal(list.status, 202);
  assert.match(list.text, /HTTP\/1.1 200 OK\r\n[^{]*\{"value":\[\{"n":5\}\]\}/);
  const point = await send(query(`${base}(PartitionKey='p',RowKey='1')`));
  assert.match(point.text, /HTTP\/1.1 200 OK\r\n[^{]*ETag: W/);
  const missing = await send(query(`${base}(PartitionKey='p',RowKey='2')`));
  assert.deepEqual(missing.status, 202);
  assert.match(missing.text, /HTTP\/1.1 404 Not Found\r\n[\s\S]*ResourceNotFound/);
});

test("the query of a batch may have a long result, which is complete", async () => {
  const table = await server.makeTable();
  const rows = ["1", "2", "3", "4"];
  for (const row of rows) await table.createEntity(entity(row, { text: row.repeat(30_000) }));
  const url = `${server.url}/${table.tableName}()`;
  const headers = "Accept: application/json;odata=minimalmetadata\n";
  const answer = await send(`--b\n${operation({ method: "GET", url, headers, body: "" })}--b--`);
  const json = JSON.parse(/\r\n\r\n(\{"odata[^\r]*)/.exec(answer.text)?.[1] ?? "null");
  assert.deepEqual(
    json.value.map(({ text }: { text: string }) => text),
    rows.map((row) => row.repeat(30_000)),
  );
});

test("a malformed batch is refused, and nothing is stored", async () => {
  const table = await server.makeTable();
  const url = `${server.url}/${table.tableName}`;
  const good = changes(operation({ url }));
  const get = operation({ method: "GET", url: `${url}()`, body: "" });
  for (const [body, type] of [
    ["", undefined],
    ["no batch", undefined],
    [good, "multipart/mixed"],
    [good, "multipart/mixed; boundary=other"],
    [good, "application/json"],
    [good.replace("--b--", ""), undefined],
    [good.replace("--c--", ""), undefined],
    [changes(), undefined],
    [good.replace("application/http", "text/plain"), undefined],
    [good.replace(" HTTP/1.1", ""), undefined],
    [good.replace("POST http", "post http"), undefined],
    [changes(operation({ url: "/otheraccount/abc" })), undefined],
    [good.replace("--b--", "") + good, undefined],
    [`--b\n${operation({ url })}--b--`, undefined],
    [`--b\n${get}--b\n${get}--b--`, undefined],
  ] as const) {
    const answer = await send(body, type);
    const found = answer.status === 202 ? /HTTP\/1.1 400/.test(answer.text) : answer.status === 400;
    assert.ok(found && answer.text.includes("InvalidInput"), `${type} ${body}: ${answer.text}`);
  }
  for (const [change, code] of [
    [get, "InvalidInput"],
    [operation({ url, body: "{" }), "InvalidInput"],
    [operation({ url, body: '{"RowKey":"x"}' }), "PropertiesNeedValue"],
    [
      operation({ method: "DELETE", url: `${url}(PartitionKey='p',RowKey='r')`, body: "" }),
      "MissingRequiredHeader",
    ],
    [operation({ url: `${server.url}/$batch` }), "InvalidInput"],
    [operation({ url: `${server.url}/Tables` }), "InvalidInput"],
    [operation({ url, body: created("x", "q") }), "CommandsInBatchActOnDifferentPartitions"],
    [operation({ url: `${server.url}/othertable` }), "CommandsInBatchActOnDifferentPartitions"],
  ] as const) {
    const answer = await send(changes(operation({ url }), change));
    assert.equal(answer.status, 202);
    assert.match(answer.text, new RegExp(`"code":"${code}","message":{"lang":"en-US","value":"1:`));
  }
  assert.deepEqual(await rowsOf(table), []);
  const big = await outcome(send("x".repeat(4 * 1024 * 1024 + 1)));
  assert.deepEqual(big, [413, "RequestBodyTooLarge"]);
});

test("a batch works if the host names the account", async () => {
  const table = await server.makeTable();
  const host = `${server.account}.table.localhost`;
  const url = (rest: string) => `http://${host}/${table.tableName}${rest}`;
  const body = changes(
    operation({ url: url("") }),
    operation({ method: "PUT", url: url("(PartitionKey='p',RowKey='2')"), body: "{}" }),
  );
  const answer = await postToHost(host, "/$batch", body);
  assert.equal(answer.match(/HTTP\/1.1 20[14]/g)?.length, 2, answer);
  assert.ok(answer.includes(`Location: http://${host}/${table.tableName}(`));
  assert.deepEqual(await rowsOf(table), ["2", "raw"]);
});

/** Posts with a chosen Host header, which `fetch` does not allow. */
async function postToHost(host: string, path: string, body: string): Promise<string> {
  const date = new Date().toUTCString();
  const signature = CREDENTIAL.computeHMACSHA256(`${date}\n/${server.account}${path}`);
  const { hostname, port } = new URL(server.url);
  const request = httpRequest({
    ...{ hostname, port, path, method: "POST" },
    headers: {
      host,
      "x-ms-date": date,
      "x-ms-version": "2019-02-02",
      "content-type": "multipart/mixed; boundary=b",
      "content-length": Buffer.byteLength(body),
      authorization: `SharedKeyLite ${server.account}:${signature}`,
    },
  });
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return text(response);
}
