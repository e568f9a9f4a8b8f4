import assert from "node:assert/strict";
import { test } from "node:test";
import { refused } from "./refused.ts";
import { forThisFile } from "./server.ts";
import { outcome, startTableServer, tableRequest } from "./table-server.ts";

const server = await forThisFile(startTableServer());

const KEYS = { partitionKey: "p", rowKey: "r" };

test("values of every type round-trip", async () => {
  const table = await server.makeTable();
  const values = {
    text: 'quotes " and \\, lines\n, é語\u{1f600}, {"a":1},"b":',
    empty: "",
    int: -2_147_483_648,
    long: { type: "Int64", value: "-9223372036854775808" },
    whole: { type: "Double", value: "1.0" },
    third: { type: "Double", value: String(1 / 3) },
    minusZero: { type: "Double", value: "-0.0" },
    nan: { type: "Double", value: "NaN" },
    infinity: { type: "Double", value: "Infinity" },
    minusInfinity: { type: "Double", value: "-Infinity" },
    yes: true,
    no: false,
    when: { type: "DateTime", value: "2013-08-22T01:12:06.2608595Z" },
    old: { type: "DateTime", value: "1601-01-01T00:00:00Z" },
    guid: { type: "Guid", value: "6f9619ff-8b86-d011-b42d-00cf4fc964ff" },
    binary: { type: "Binary", value: Buffer.from([0, 1, 254, 255]).toString("base64") },
    none: { type: "Binary", value: "" },
  };
  await table.createEntity({ ...KEYS, ...values } as never);
  const raw = await tableRequest(server, {
    path: `/${table.tableName}(PartitionKey='p',RowKey='r')`,
  });
  const sent: Record<string, unknown> = values;
  for (const [name, value] of Object.entries(sent)) {
    const formatted =
      raw.text.match(new RegExp(`"${name}":("(?:[^"\\\\]|\\\\.)*"|[^,}]+)`))?.[1] ?? "";
    if (typeof value !== "object") {
      assert.deepEqual(JSON.parse(formatted), value, name);
      continue;
    }
    const typed = value as { type: string; value: string };
    const isPlain = typed.type === "Double" && !/[NI]/.test(typed.value);
    assert.equal(formatted, isPlain ? typed.value : JSON.stringify(typed.value), name);
    assert.equal(raw.text.includes(`"${name}@odata.type":"Edm.${typed.type}"`), !isPlain, name);
  }
  const found = await table.getEntity("p", "r");
  assert.equal(found.long, -(2n ** 63n));
  assert.deepEqual(found.binary, Buffer.from([0, 1, 254, 255]));
  assert.equal(found.text, values.text);
  assert.ok(Object.is(found.minusZero, -0));
});

test("null properties are not stored, and a merge with null preserves the old value", async () => {
  const table = await server.makeTable();
  await table.createEntity({ ...KEYS, a: null, b: 1 } as never);
  assert.equal("a" in (await table.getEntity("p", "r")), false);
  await table.updateEntity({ ...KEYS, b: null } as never, "Merge");
  assert.equal((await table.getEntity("p", "r")).b, 1);
  await table.updateEntity({ ...KEYS, b: null } as never, "Replace");
  assert.equal("b" in (await table.getEntity("p", "r")), false);
});

test("merge preserves the properties it does not name, replace drops them", async () => {
  const table = await server.makeTable();
  await table.createEntity({ ...KEYS, a: 1, b: 2n, c: "x" });
  await table.updateEntity({ ...KEYS, b: "two", d: true }, "Merge");
  const merged = await table.getEntity("p", "r");
  assert.deepEqual([merged.a, merged.b, merged.c, merged.d], [1, "two", "x", true]);
  await table.updateEntity({ ...KEYS, d: false }, "Replace");
  const replaced = await table.getEntity("p", "r");
  assert.equal(replaced.d, false);
  for (const name of ["a", "b", "c"]) assert.equal(name in replaced, false);
  await table.upsertEntity({ ...KEYS, e: 1 }, "Merge");
  assert.equal((await table.getEntity("p", "r")).d, false);
  await table.upsertEntity({ ...KEYS, f: 1 }, "Replace");
  assert.equal((await table.getEntity("p", "r")).e, undefined);
});

test("keys may contain any character but the forbidden ones", async () => {
  const table = await server.makeTable();
  const keys = [
    "",
    "it's",
    "''",
    '"',
    "a b",
    "+&%25=,;:",
    "(x)",
    "äöü",
    "語",
    "\u{1f600}",
    "\ue000",
    "~`!@$^*",
  ];
  for (const partitionKey of keys) {
    for (const rowKey of ["", partitionKey]) {
      await table.upsertEntity({ partitionKey, rowKey, mark: partitionKey }, "Replace");
      const found = await table.getEntity(partitionKey, rowKey);
      assert.deepEqual(
        [found.partitionKey, found.rowKey, found.mark],
        [partitionKey, rowKey, partitionKey],
      );
    }
  }
  const all: string[] = [];
  for await (const { partitionKey } of table.listEntities()) all.push(partitionKey as string);
  assert.deepEqual(new Set(all), new Set(keys));
  assert.deepEqual(
    all,
    all.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)),
    "in UTF-16 order",
  );
  for (const key of keys) await table.deleteEntity(key, "");
  assert.equal((await table.listEntities().byPage().next()).value.length, keys.length - 1);
  for (const bad of ["/", "\\", "#", "?", "\t", "\u0085"]) {
    await refused(table.createEntity({ partitionKey: bad, rowKey: "" }), 400, "OutOfRangeInput");
    await refused(table.upsertEntity({ partitionKey: "", rowKey: bad }), 400, "OutOfRangeInput");
  }
  await refused(
    table.createEntity({ partitionKey: "x".repeat(1_025), rowKey: "" }),
    400,
    "KeyValueTooLarge",
  );
});

test("an entity is found by its keys in any order, and X-HTTP-Method overrides the method", async () => {
  const table = await server.makeTable();
  await table.createEntity({ ...KEYS, n: 1 });
  const path = `/${table.tableName}(RowKey='r',%20PartitionKey='p')`;
  assert.equal((await tableRequest(server, { path })).status, 200);
  for (const [method, status] of [
    ["MERGE", 204],
    ["PATCH", 204],
    ["PUT", 204],
  ] as const) {
    const headers = { "x-http-method": method, "if-match": "*" };
    const answer = await tableRequest(server, { method: "POST", path, headers, body: '{"n":2}' });
    assert.equal(answer.status, status, method);
    assert.match(answer.headers.get("etag") ?? "", /^W\/"datetime'/);
  }
  const merge = await tableRequest(server, { method: "MERGE", path, body: '{"m":3}' });
  assert.equal(merge.status, 204);
  const headers = { "x-http-method": "DELETE", "if-match": "*" };
  assert.equal((await tableRequest(server, { method: "POST", path, headers })).status, 204);
  assert.deepEqual(await outcome(tableRequest(server, { path })), [404, "ResourceNotFound"]);
});

test("a response has the requested level of type metadata", async () => {
  const table = await server.makeTable();
  const name = table.tableName;
  await table.createEntity({ ...KEYS, n: 5n, s: "x" });
  const path = `/${name}(PartitionKey='p',RowKey='r')`;
  const members: Record<string, string[]> = {};
  for (const level of ["nometadata", "minimalmetadata", "fullmetadata"]) {
    const headers = { accept: `application/json;odata=${level}` };
    const answer = await tableRequest(server, { path, headers });
    const type = `application/json;odata=${level};streaming=true;charset=utf-8`;
    assert.equal(answer.headers.get("content-type"), type);
    assert.equal(answer.headers.get("dataserviceversion"), "3.0;");
    const found = JSON.parse(answer.text);
    members[level] = Object.keys(found);
    if (level === "nometadata") continue;
    assert.equal(found["odata.metadata"], `${server.url}/$metadata#${name}/@Element`);
    assert.equal(found["odata.etag"], answer.headers.get("etag"));
    if (level === "fullmetadata") {
      assert.equal(found["odata.type"], `devstoreaccount1.${name}`);
      assert.equal(found["odata.id"], server.url + path);
      assert.equal(found["odata.editLink"], path.slice(1));
    }
  }
  const keys = ["PartitionKey", "RowKey"];
  const minimal = ["odata.metadata", "odata.etag", ...keys, "Timestamp", "n@odata.type", "n", "s"];
  assert.deepEqual(members.nometadata, [...keys, "Timestamp", "n", "s"]);
  assert.deepEqual(members.minimalmetadata, minimal);
  const more = ["odata.type", "odata.id", "odata.editLink", "Timestamp@odata.type"];
  assert.deepEqual(members.fullmetadata?.toSorted(), [...minimal, ...more].sort());
});

test("$format overrides Accept; Atom and other formats are refused before anything is done", async () => {
  const table = await server.makeTable();
  const path = `/${table.tableName}`;
  const format = encodeURIComponent("application/json;odata=nometadata");
  const plain = await tableRequest(server, {
    path: `${path}?$format=${format}`,
    headers: { accept: "application/atom+xml" },
  });
  assert.deepEqual(JSON.parse(plain.text), { value: [] });
  for (const accept of [
    "*/*",
    "application/json",
    "application/atom+xml, application/json;q=0.5",
  ]) {
    assert.equal((await tableRequest(server, { path, headers: { accept } })).status, 200, accept);
  }
  const body = JSON.stringify({ PartitionKey: "p", RowKey: "r" });
  for (const [headers, code] of [
    [{ accept: "application/atom+xml" }, "AtomFormatNotSupported"],
    [{ accept: "text/html" }, "MediaTypeNotSupported"],
    [{ accept: "application/json;odata=some" }, "MediaTypeNotSupported"],
    [{ "content-type": "application/atom+xml" }, "AtomFormatNotSupported"],
    [{ "content-type": "text/plain" }, "MediaTypeNotSupported"],
  ] as const) {
    const asked = { method: "POST", path, headers: { ...headers }, body };
    assert.deepEqual(await outcome(tableRequest(server, asked)), [415, code]);
  }
  assert.deepEqual(JSON.parse((await tableRequest(server, { path })).text).value, []);
});

test("Prefer decides whether an inserted entity is returned", async () => {
  const table = await server.makeTable();
  const insert = (row: string, headers: Record<string, string>) =>
    tableRequest(server, {
      method: "POST",
      path: `/${table.tableName}`,
      headers,
      body: JSON.stringify({ PartitionKey: "it's", RowKey: row, n: 1 }),
    });
  const silent = await insert("1", { prefer: "return-no-content" });
  assert.deepEqual([silent.status, silent.text], [204, ""]);
  assert.equal(silent.headers.get("preference-applied"), "return-no-content");
  const location = `${server.url}/${table.tableName}(PartitionKey='it''s',RowKey='1')`;
  assert.equal(silent.headers.get("location"), location);
  const spoken = await insert("2", { prefer: "return-content" });
  assert.deepEqual([spoken.status, JSON.parse(spoken.text).n], [201, 1]);
  assert.equal(spoken.headers.get("preference-applied"), "return-content");
  const unasked = await insert("3", {});
  assert.deepEqual([unasked.status, JSON.parse(unasked.text).RowKey], [201, "3"]);
  assert.equal(unasked.headers.get("preference-applied"), null);
  for (const { headers } of [silent, spoken, unasked]) assert.ok(headers.get("etag"));
});
