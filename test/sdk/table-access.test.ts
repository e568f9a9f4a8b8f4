import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AzureNamedKeyCredential,
  AzureSASCredential,
  generateTableSas,
  TableClient,
} from "@azure/data-tables";
import { accountSas } from "./queue-sas.ts";
import { refused } from "./refused.ts";
import { CREDENTIAL, forThisFile } from "./server.ts";
import { CLIENT_OPTIONS, startTableServer, tableRequest } from "./table-server.ts";

const server = await forThisFile(startTableServer());

/** Every letter of any SAS of any service. */
const LETTERS = [..."rwdxylacuptfmeoi"];
const HOUR_MS = 3_600_000;
const VERSION = "2019-02-02";

interface SasTerms {
  readonly letters?: string;
  readonly policy?: string;
  readonly spk?: string;
  readonly srk?: string;
  readonly epk?: string;
  readonly erk?: string;
}

const SIGNER = new AzureNamedKeyCredential(server.account, server.key);

function tableSas(table: string, terms: SasTerms): string {
  const { letters = "", policy = "", spk, srk, epk, erk } = terms;
  const expiry =
    policy === "" ? `${new Date(Date.now() + HOUR_MS).toISOString().slice(0, 19)}Z` : "";
  const resource = `/table/${server.account}/${table.toLowerCase()}`;
  const range = [spk, srk, epk, erk].map((key) => key ?? "");
  const fields = [letters, "", expiry, resource, policy, "", "", VERSION, ...range];
  const query = {
    ...{ sv: VERSION, tn: table, sp: letters, se: expiry, si: policy },
    ...{ spk, srk, epk, erk },
    sig: CREDENTIAL.computeHMACSHA256(fields.join("\n")),
  };
  return Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => `${name}=${encodeURIComponent(value as string)}`)
    .join("&");
}

interface Operation {
  readonly name: string;
  /** Method and path after the account, in which `TABLE` stands for the table. */
  readonly request: string;
  readonly type: "s" | "c" | "o";
  /** In an account SAS: one suffices, unless `every`; "" if no account SAS grants it. */
  readonly account: string;
  readonly service: string;
  readonly every?: boolean;
  readonly ifMatch?: boolean;
  readonly body?: string;
}

const ENTITY = "/TABLE(PartitionKey='p',RowKey='r')";
const NEW = "/TABLE(PartitionKey='p',RowKey='new')";
const INSERT = JSON.stringify({ PartitionKey: "p", RowKey: "new" });

const OPERATIONS: readonly Operation[] = [
  {
    name: "get service properties",
    request: "GET /?restype=service&comp=properties",
    type: "s",
    account: "r",
    service: "",
  },
  {
    name: "get service stats",
    request: "GET -secondary/?restype=service&comp=stats",
    type: "s",
    account: "r",
    service: "",
  },
  {
    name: "set service properties",
    request: "PUT /?restype=service&comp=properties",
    type: "s",
    account: "w",
    service: "",
    body: "<StorageServiceProperties />",
  },
  { name: "query tables", request: "GET /Tables", type: "c", account: "l", service: "" },
  {
    name: "create table",
    request: "POST /Tables",
    type: "c",
    account: "cw",
    service: "",
    body: '{"TableName":"NEWTABLE"}',
  },
  {
    name: "delete table",
    request: "DELETE /Tables('TABLE')",
    type: "c",
    account: "d",
    service: "",
  },
  { name: "get ACL", request: "GET /TABLE?comp=acl", type: "c", account: "", service: "" },
  { name: "set ACL", request: "PUT /TABLE?comp=acl", type: "c", account: "", service: "" },
  { name: "query entities", request: "GET /TABLE()", type: "o", account: "r", service: "r" },
  { name: "get entity", request: `GET ${ENTITY}`, type: "o", account: "r", service: "r" },
  {
    name: "insert entity",
    request: "POST /TABLE",
    type: "o",
    account: "a",
    service: "a",
    body: INSERT,
  },
  {
    name: "update entity",
    request: `PUT ${ENTITY}`,
    type: "o",
    account: "u",
    service: "u",
    ifMatch: true,
    body: "{}",
  },
  {
    name: "merge entity",
    request: `MERGE ${ENTITY}`,
    type: "o",
    account: "u",
    service: "u",
    ifMatch: true,
    body: "{}",
  },
  {
    name: "insert or replace",
    request: `PUT ${NEW}`,
    type: "o",
    account: "au",
    service: "au",
    every: true,
    body: "{}",
  },
  {
    name: "insert or merge",
    request: `PATCH ${NEW}`,
    type: "o",
    account: "au",
    service: "au",
    every: true,
    body: "{}",
  },
  {
    name: "delete entity",
    request: `DELETE ${ENTITY}`,
    type: "o",
    account: "d",
    service: "d",
    ifMatch: true,
  },
];

let count = 0;

/** Requests the operation on a new table; returns the code of the refusal, or "". */
async function ask(asked: Operation, sasFor: (table: string) => string): Promise<string> {
  const table = await server.makeTable();
  await table.createEntity({ partitionKey: "p", rowKey: "r", n: 1 });
  const [method = "", target = ""] = asked.request.replace("TABLE", table.tableName).split(" ");
  const answer = await tableRequest(server, {
    method,
    path: `${target}${target.includes("?") ? "&" : "?"}${sasFor(table.tableName)}`,
    signed: false,
    version: "2026-04-06",
    headers: asked.ifMatch === true ? { "if-match": "*" } : {},
    ...(asked.body !== undefined && { body: asked.body.replace("NEWTABLE", `New${++count}`) }),
  });
  assert.equal(answer.status >= 400, answer.code !== "", `${asked.name}: ${answer.status}`);
  if (answer.code !== "") {
    const left = (await table.listEntities().byPage().next()).value;
    assert.deepEqual([left.length, left[0].n], [1, 1], "nothing has happened");
  }
  return answer.code;
}

function suffices(
  { every = false }: Operation,
  needed: string,
  letters: readonly string[],
): boolean {
  const has = (letter: string) => letters.includes(letter);
  return needed !== "" && (every ? [...needed].every(has) : [...needed].some(has));
}

function expected(asked: Operation, needed: string, letters: readonly string[]): string {
  if (needed === "") return "AuthorizationFailure";
  return suffices(asked, needed, letters) ? "" : "AuthorizationPermissionMismatch";
}

/**
 * Returns each letter alone, all that are not needed, each of several, and exactly those needed.
 */
function letterSets(needed: string): string[][] {
  const others = LETTERS.filter((letter) => !needed.includes(letter));
  return [...LETTERS.map((letter) => [letter]), others, [...needed]].filter(
    (set) => set.length > 0,
  );
}

test("an account SAS grants exactly what its letters say", async () => {
  for (const asked of OPERATIONS) {
    for (const letters of letterSets(asked.account)) {
      const found = await ask(asked, () => accountSas(server, letters.join(""), { services: "t" }));
      assert.equal(found, expected(asked, asked.account, letters), `${asked.name}: ${letters}`);
    }
  }
});

test("an account SAS grants only the services and resource types that it names", async () => {
  const all = LETTERS.join("");
  for (const asked of OPERATIONS.filter(({ account }) => account !== "")) {
    const types = "sco".replace(asked.type, "");
    const elsewhere = await ask(asked, () => accountSas(server, all, { services: "t", types }));
    assert.equal(elsewhere, "AuthorizationResourceTypeMismatch", asked.name);
    const other = await ask(asked, () => accountSas(server, all, { services: "bqf" }));
    assert.equal(other, "AuthorizationServiceMismatch", asked.name);
  }
});

test("a service SAS grants exactly what its letters say, and nothing on the table itself", async () => {
  for (const asked of OPERATIONS) {
    for (const letters of letterSets(asked.service)) {
      const found = await ask(asked, (table) => tableSas(table, { letters: letters.join("") }));
      assert.equal(found, expected(asked, asked.service, letters), `${asked.name}: ${letters}`);
    }
  }
});

test("a service SAS grants no other table", async () => {
  const letters = LETTERS.join("");
  for (const asked of OPERATIONS.filter(({ type }) => type === "o")) {
    const found = await ask(asked, () => tableSas("other", { letters }));
    assert.equal(found, "AuthenticationFailed", asked.name);
  }
});

test("nothing is granted without credentials", async () => {
  for (const asked of OPERATIONS) {
    assert.equal(await ask(asked, () => ""), "NoAuthenticationInformation", asked.name);
  }
});

function guestOf(table: TableClient, terms: SasTerms): TableClient {
  const credential = new AzureSASCredential(tableSas(table.tableName, terms));
  return new TableClient(server.url, table.tableName, credential, CLIENT_OPTIONS);
}

async function keysOf(table: TableClient, filter = ""): Promise<string[]> {
  const keys: string[] = [];
  for await (const { partitionKey, rowKey } of table.listEntities({ queryOptions: { filter } })) {
    keys.push(`${partitionKey}${rowKey}`);
  }
  return keys;
}

test("a key range limits queries, and refuses operations outside of it", async () => {
  const table = await server.makeTable();
  for (const partitionKey of ["a", "b", "c"]) {
    for (const rowKey of ["1", "2", "3"]) await table.createEntity({ partitionKey, rowKey });
  }
  for (const [range, open] of [
    [{ spk: "b" }, ["b1", "b2", "b3", "c1", "c2", "c3"]],
    [{ epk: "b" }, ["a1", "a2", "a3", "b1", "b2", "b3"]],
    [{ spk: "a", srk: "3", epk: "b", erk: "1" }, ["a3", "b1"]],
    [{ spk: "b", epk: "b" }, ["b1", "b2", "b3"]],
    [{ spk: "b", srk: "2", epk: "b", erk: "2" }, ["b2"]],
    [{ spk: "c", epk: "a" }, []],
  ] as const) {
    const guest = guestOf(table, { letters: "raud", ...range });
    assert.deepEqual(await keysOf(guest), open);
    const two = await keysOf(guest, "RowKey eq '2' or PartitionKey eq 'a'");
    assert.deepEqual(
      two,
      open.filter((key) => key.endsWith("2") || key.startsWith("a")),
    );
    for (const [partitionKey, rowKey] of ["a1", "a3", "b2", "c3"].map((key) => [...key])) {
      const entity = { partitionKey: partitionKey as string, rowKey: rowKey as string };
      const isOpen = (open as readonly string[]).includes(`${partitionKey}${rowKey}`);
      for (const use of [
        () => guest.getEntity(entity.partitionKey, entity.rowKey),
        () => guest.updateEntity(entity, "Merge"),
        () => guest.upsertEntity(entity, "Replace"),
        () => guest.submitTransaction([["update", entity, "Replace"]]),
      ]) {
        if (isOpen) await use();
        else await refused(use(), 403, "AuthorizationFailure");
      }
    }
  }
  const insert = guestOf(table, { letters: "a", spk: "b", epk: "b" });
  const outside = insert.createEntity({ partitionKey: "c", rowKey: "4" });
  await refused(outside, 403, "AuthorizationFailure");
  assert.equal((await keysOf(table)).length, 9);
});

test("the keys of a range may contain blanks, plus signs, percent signs and any letters", async () => {
  const table = await server.makeTable();
  const partitionKey = "p q+r%41 ü";
  const rows = ["a b", "a+b", "a%2Bb", "a%b", "ä語"];
  for (const rowKey of rows) await table.createEntity({ partitionKey, rowKey });
  for (const rowKey of rows) {
    // As the official client signs and encodes it; a blank may also be sent as a plus.
    const sas = generateTableSas(table.tableName, SIGNER, {
      permissions: { query: true, update: true },
      ...{ startPartitionKey: partitionKey, startRowKey: rowKey },
      ...{ endPartitionKey: partitionKey, endRowKey: rowKey },
    });
    for (const encoded of [sas, sas.replaceAll("%20", "+")]) {
      const credential = new AzureSASCredential(encoded);
      const guest = new TableClient(server.url, table.tableName, credential, CLIENT_OPTIONS);
      assert.deepEqual(await keysOf(guest), [partitionKey + rowKey], encoded);
      await guest.submitTransaction([["update", { partitionKey, rowKey, n: 1 }]]);
      const others = rows.filter((other) => other !== rowKey);
      for (const other of others) {
        await refused(guest.getEntity(partitionKey, other), 403, "AuthorizationFailure");
      }
    }
  }
});

test("each operation of a batch requires its own permissions", async () => {
  const table = await server.makeTable();
  await table.createEntity({ partitionKey: "p", rowKey: "r" });
  const guest = guestOf(table, { letters: "a" });
  await guest.submitTransaction([["create", { partitionKey: "p", rowKey: "1" }]]);
  const mixed = guest.submitTransaction([
    ["create", { partitionKey: "p", rowKey: "2" }],
    ["delete", { partitionKey: "p", rowKey: "r" }],
  ]);
  await refused(mixed, 403, "AuthorizationPermissionMismatch");
  assert.deepEqual(await keysOf(table), ["p1", "pr"]);
});

test("a SAS for one table does not grant another through a batch", async () => {
  const [mine, other] = [await server.makeTable(), await server.makeTable()];
  const sas = tableSas(mine.tableName, { letters: "raud" });
  const part = "Content-Type: application/http\n\n";
  const request = `POST ${server.url}/${other.tableName} HTTP/1.1\nContent-Type: application/json\n\n`;
  const body = `--b\nContent-Type: multipart/mixed; boundary=c\n\n--c\n${part}${request}${INSERT}\n--c--\n--b--`;
  const answer = await tableRequest(server, {
    ...{ method: "POST", path: `/$batch?${sas}`, signed: false, body },
    headers: { "content-type": "multipart/mixed; boundary=b" },
  });
  assert.deepEqual([answer.status, answer.code], [403, "AuthorizationFailure"]);
  assert.deepEqual(await keysOf(other), []);
});

test("a stored policy grants what its SAS omits, and its removal revokes at once", async () => {
  const table = await server.makeTable();
  const guest = guestOf(table, { policy: "readers" });
  await refused(keysOf(guest), 403, "AuthenticationFailed");
  const expiry = new Date(server.clock.now() + HOUR_MS);
  await table.setAccessPolicy([{ id: "readers", accessPolicy: { expiry, permission: "r" } }]);
  assert.deepEqual(await keysOf(guest), []);
  const write = guest.createEntity({ partitionKey: "p", rowKey: "r" });
  await refused(write, 403, "AuthorizationPermissionMismatch");
  await table.setAccessPolicy([]);
  await refused(keysOf(guest), 403, "AuthenticationFailed");
});
