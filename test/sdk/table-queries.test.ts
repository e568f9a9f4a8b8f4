import assert from "node:assert/strict";
import { test } from "node:test";
import { odata, type TransactionAction } from "@azure/data-tables";
import { forThisFile } from "./server.ts";
import { outcome, startTableServer, tableRequest } from "./table-server.ts";

const PARTITIONS = ["a", "b", "c"];
const ROWS = 20;

const server = await forThisFile(startTableServer());
const table = await server.makeTable();
await fill();

async function fill(): Promise<void> {
  for (const partitionKey of PARTITIONS) {
    const actions: TransactionAction[] = Array.from({ length: ROWS }, (_, n) => [
      "create",
      {
        partitionKey,
        rowKey: String(n).padStart(2, "0"),
        n,
        long: BigInt(n) * 2n ** 40n,
        half: { type: "Double", value: n / 2 },
        even: n % 2 === 0,
        when: new Date(Date.UTC(2020, 0, n + 1)),
        guid: { type: "Guid", value: `00000000-0000-0000-0000-0000000000${n + 10}` },
        bytes: new Uint8Array([n, 255]),
        text: `text ${n}`,
        ...(n < 5 && { small: "it's" }),
      },
    ]);
    await table.submitTransaction(actions);
  }
}

/** Returns `a/00` and so on, in the order received. */
async function keysOf(filter: string, top?: number): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of table
    .listEntities({ queryOptions: { filter } })
    .byPage({ ...(top && { maxPageSize: top }) })) {
    keys.push(...page.map(({ partitionKey, rowKey }) => `${partitionKey}/${rowKey}`));
  }
  return keys;
}

const in3 = (...rows: string[]) => PARTITIONS.flatMap((p) => rows.map((row) => `${p}/${row}`));

test("filters of every kind find the right entities", async () => {
  for (const [filter, expected] of [
    ["PartitionKey eq 'b' and RowKey eq '07'", ["b/07"]],
    ["'b' eq PartitionKey and '07' eq RowKey", ["b/07"]],
    [
      "(PartitionKey eq 'c' or PartitionKey eq 'a') and (RowKey eq '03' or RowKey eq '01')",
      ["a/01", "a/03", "c/01", "c/03"],
    ],
    ["PartitionKey gt 'a' and PartitionKey lt 'c' and RowKey ge '18'", ["b/18", "b/19"]],
    ["RowKey lt '01'", in3("00")],
    ["RowKey ge '19' and PartitionKey ne 'b'", ["a/19", "c/19"]],
    ["n eq 3", in3("03")],
    ["3 gt n and n ne 1", in3("00", "02")],
    ["n eq 3L", in3("03")],
    ["half eq 1.5", in3("03")],
    ["half eq 1", in3("02")],
    [`long eq ${3n * 2n ** 40n}L`, in3("03")],
    [`long gt ${18n * 2n ** 40n}`, in3("19")],
    ["even eq true and n le 2", in3("00", "02")],
    ["even and n le 2", in3("00", "02")],
    ["not even and n le 2", in3("01")],
    ["not (n gt 0 or PartitionKey eq 'b')", ["a/00", "c/00"]],
    ["when lt datetime'2020-01-02T00:00:00Z'", in3("00")],
    ["when ge datetime'2020-01-20T00:00:00.000Z'", in3("19")],
    ["guid eq guid'00000000-0000-0000-0000-000000000012'", in3("02")],
    ["bytes eq X'05ff' or bytes eq binary'06FF'", in3("05", "06")],
    ["small eq 'it''s' and n ge 4", in3("04")],
    ["small ne 'other' and n ge 4", in3("04")],
    ["not (small eq 'it''s') and n le 5", in3("05")],
    ["missing ne 1", []],
    ["n eq 'text'", []],
    ["text eq 5", []],
    ["Timestamp lt datetime'2000-01-01T00:00:00Z'", []],
    ["Timestamp gt datetime'2000-01-01T00:00:00Z' and n eq 0", in3("00")],
    ["N eq 3", []],
    ["false", []],
    [odata`small eq ${"it's"} and n eq ${0}`, in3("00")],
  ] as const) {
    assert.deepEqual(await keysOf(filter), expected, filter);
  }
});

test("pages have no gaps or repetitions, at any page size", async () => {
  const all = PARTITIONS.flatMap((p) =>
    Array.from({ length: ROWS }, (_, n) => `${p}/${String(n).padStart(2, "0")}`),
  );
  for (const size of [1, 7, 20, 59, 60, 61, 1_000]) {
    assert.deepEqual(await keysOf("", size), all);
    assert.deepEqual(await keysOf("n ge 0", size), all);
    const ends = "RowKey eq '00' or RowKey eq '19'";
    assert.deepEqual(await keysOf(ends, size), in3("00", "19"));
  }
});

test("a page has up to 1,000 entities, and says where the next one begins", async () => {
  const big = await server.makeTable();
  for (let at = 0; at < 1_100; at += 100) {
    const actions: TransactionAction[] = Array.from({ length: 100 }, (_, n) => [
      "create",
      { partitionKey: "語", rowKey: String(at + n).padStart(5, "0") },
    ]);
    await big.submitTransaction(actions);
  }
  const sizes: number[] = [];
  for await (const page of big.listEntities().byPage()) sizes.push(page.length);
  assert.deepEqual(sizes, [1_000, 100]);
  const first = await tableRequest(server, { path: `/${big.tableName}()?$top=2` });
  const partition = first.headers.get("x-ms-continuation-nextpartitionkey") ?? "";
  const row = first.headers.get("x-ms-continuation-nextrowkey") ?? "";
  const next = await tableRequest(server, {
    path: `/${big.tableName}()?$top=2&NextPartitionKey=${partition}&NextRowKey=${row}`,
  });
  const rows = JSON.parse(next.text).value.map(({ RowKey }: { RowKey: string }) => RowKey);
  assert.deepEqual(rows, ["00002", "00003"]);
});

test("a page of large entities ends early, and says where the next one begins", async () => {
  const large = await server.makeTable();
  const text = "語".repeat(30_000);
  const properties = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`text${n}`, text]));
  for (let n = 0; n < 8; n++)
    await large.createEntity({ partitionKey: "", rowKey: `${n}`, ...properties });
  const sizes: number[] = [];
  for await (const page of large.listEntities().byPage()) sizes.push(page.length);
  assert.deepEqual(sizes, [3, 3, 2]);
});

test("between pages, deleted entities are skipped, and entities added later on are found", async () => {
  const moving = await server.makeTable();
  for (const rowKey of ["1", "2", "3", "4"])
    await moving.createEntity({ partitionKey: "", rowKey });
  const pages = moving.listEntities().byPage({ maxPageSize: 2 });
  await pages.next();
  await moving.deleteEntity("", "3");
  await moving.createEntity({ partitionKey: "", rowKey: "5" });
  const page = (await pages.next()).value;
  assert.deepEqual(
    page.map(({ rowKey }: { rowKey: string }) => rowKey),
    ["4", "5"],
  );
});

test("$select returns the properties it names, at every metadata level", async () => {
  const select = async (names: string, level: string) => {
    const answer = await tableRequest(server, {
      path: `/${table.tableName}()?$top=1&$select=${encodeURIComponent(names)}`,
      headers: { accept: `application/json;odata=${level}` },
    });
    return Object.keys(JSON.parse(answer.text).value[0]);
  };
  assert.deepEqual(await select("n,PartitionKey, missing", "nometadata"), ["PartitionKey", "n"]);
  const long = ["odata.etag", "long@odata.type", "long"];
  assert.deepEqual(await select("long", "minimalmetadata"), long);
  assert.equal((await select("*", "nometadata")).length, 12);
  const path = `/${table.tableName}(PartitionKey='a',RowKey='00')?$select=n`;
  const { text } = await tableRequest(server, {
    path,
    headers: { accept: "application/json;odata=nometadata" },
  });
  assert.equal(text, '{"n":0}');
});

test("a list at full metadata names and links every entity", async () => {
  const answer = await tableRequest(server, {
    path: `/${table.tableName}()?$top=1`,
    headers: { accept: "application/json;odata=fullmetadata" },
  });
  const found = JSON.parse(answer.text);
  assert.equal(found["odata.metadata"], `${server.url}/$metadata#${table.tableName}`);
  assert.equal(
    found.value[0]["odata.editLink"],
    `${table.tableName}(PartitionKey='a',RowKey='00')`,
  );
});

test("invalid queries are refused with the reason", async () => {
  const many = Array.from({ length: 251 }, () => "a eq 1").join(" or ");
  for (const [query, status, code] of [
    ["$filter=n eq", 400, "InvalidInput"],
    ["$filter=n eq n", 400, "InvalidInput"],
    [`$filter=${"(".repeat(33)}n eq 1${")".repeat(33)}`, 400, "InvalidInput"],
    [`$filter=${"not ".repeat(1_000)}n`, 400, "InvalidInput"],
    [`$filter=${many}`, 400, "InvalidInput"],
    ["$filter=n eq 1;process.exit()", 400, "InvalidInput"],
    ["$filter=startswith(text,'a')", 501, "NotImplemented"],
    ["$filter=n add 1 eq 2", 501, "NotImplemented"],
    ["$top=0", 400, "InvalidInput"],
    ["$top=-1", 400, "InvalidInput"],
    ["$top=1001", 400, "InvalidInput"],
    ["$top=x", 400, "InvalidInput"],
    ["$orderby=n", 501, "NotImplemented"],
    ["$skip=1", 501, "NotImplemented"],
    ["$inlinecount=allpages", 501, "NotImplemented"],
    ["NextPartitionKey=x", 400, "InvalidInput"],
    ["NextPartitionKey=1!4!abc", 400, "InvalidInput"],
    ["NextRowKey=1!0!a", 400, "InvalidInput"],
    ["timeout=-1", 400, "InvalidQueryParameterValue"],
  ] as const) {
    const path = `/${table.tableName}()?${encodeURI(query).replaceAll("#", "%23")}`;
    assert.deepEqual(await outcome(tableRequest(server, { path })), [status, code], query);
  }
});

test("an entity addressed by its keys is not searched for", async () => {
  const at = `/${table.tableName}(PartitionKey='a',RowKey='00')`;
  for (const query of ["$filter=n%20eq%20999", "$top=1", "$orderby=n"]) {
    const found = await outcome(tableRequest(server, { path: `${at}?${query}` }));
    assert.deepEqual(found, [501, "NotImplemented"], query);
  }
});

test("only the name of a table can be selected", async () => {
  for (const [names, status] of [
    ["TableName", 200],
    ["*", 200],
    ["PartitionKey", 400],
    ["TableName,Timestamp", 400],
  ] as const) {
    const answer = await tableRequest(server, { path: `/Tables?$select=${names}` });
    assert.equal(answer.status, status, names);
  }
});

test("keys in a filter may be longer than any key", async () => {
  const long = "語".repeat(1_100);
  assert.deepEqual(await keysOf(`PartitionKey eq '${long}'`), []);
  assert.deepEqual(await keysOf(`PartitionKey gt '${long}'`), []);
  const below = `PartitionKey eq 'a' and RowKey lt '${long}' and n lt 1`;
  assert.deepEqual(await keysOf(below), ["a/00"]);
});

test("a plus in a query is a blank, unless it is encoded", async () => {
  const plus = await server.makeTable();
  await plus.createEntity({ partitionKey: "a+b c", rowKey: "" });
  for (const [filter, found] of [
    ["PartitionKey+eq+'a%2Bb+c'", 1],
    ["PartitionKey%20eq%20'a%2Bb%20c'", 1],
    ["PartitionKey+eq+'a+b+c'", 0],
  ] as const) {
    const { text } = await tableRequest(server, { path: `/${plus.tableName}()?$filter=${filter}` });
    assert.equal(JSON.parse(text).value.length, found, filter);
  }
});
