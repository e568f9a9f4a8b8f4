import assert from "node:assert/strict";
import { test } from "node:test";
import { AzureNamedKeyCredential, TableClient, TableServiceClient } from "@azure/data-tables";
import type { RoleName } from "../../src/rules/roles.ts";
import {
  assertPermitted,
  attempt,
  HAS_ROLES,
  MISMATCH,
  OPTIONS,
  OWN,
  PERMITTED,
  userWith,
} from "./role-users.ts";
import { forThisFile } from "./server.ts";
import { startTableServer } from "./table-server.ts";

const server = await forThisFile(startTableServer(HAS_ROLES));
const key = new AzureNamedKeyCredential(server.account, server.key);
const ENTITY = { partitionKey: "p", rowKey: "r", text: "a" };

let count = 0;

/** Creates a table with one entity. */
async function filled(name = `Table${count++}`): Promise<string> {
  const owner = new TableClient(server.url, name, key, OPTIONS);
  await owner.createTable();
  await owner.upsertEntity(ENTITY);
  return name;
}

type User = ReturnType<typeof userWith>;

const tableAs = (user: User, name: string) => new TableClient(server.url, name, user, OPTIONS);
const serviceAs = (user: User) => new TableServiceClient(server.url, user, OPTIONS);

/** Tries an operation in a table of its own. */
function inside(work: (table: TableClient) => Promise<unknown>) {
  return async (user: User) => work(tableAs(user, await filled()));
}

const NEW = { ...ENTITY, rowKey: "new" };

const OPERATIONS: Readonly<Record<string, (user: User) => Promise<unknown>>> = {
  serviceProperties: (user) => serviceAs(user).getProperties(),
  setServiceProperties: (user) => serviceAs(user).setProperties({}),
  listTables: (user) => serviceAs(user).listTables().next(),
  create: (user) => serviceAs(user).createTable(`Made${count++}`),
  acl: inside((table) => table.getAccessPolicy()),
  setAcl: inside((table) => table.setAccessPolicy([])),
  deleteTable: inside((table) => table.deleteTable()),
  get: inside((table) => table.getEntity("p", "r")),
  query: inside((table) => table.listEntities().next()),
  insert: inside((table) => table.createEntity(NEW)),
  update: inside((table) => table.updateEntity(ENTITY, "Replace")),
  merge: inside((table) => table.updateEntity(ENTITY, "Merge")),
  upsert: inside((table) => table.upsertEntity(NEW, "Replace")),
  upsertMerged: inside((table) => table.upsertEntity(NEW, "Merge")),
  delete: inside((table) => table.deleteEntity("p", "r")),
  batch: inside((table) => table.submitTransaction([["create", NEW]])),
};

test("each role permits its kinds of operations to the official client, and no others", async () => {
  const managing = "listTables create deleteTable";
  await assertPermitted(
    {
      "account-contributor": `serviceProperties setServiceProperties ${managing} acl setAcl`,
      "table-reader": "listTables get query",
      "table-contributor": `${managing} get query insert update merge upsert upsertMerged delete batch`,
      "blob-owner": "",
      none: "",
    },
    OPERATIONS,
    (role: RoleName | null) => userWith(role),
  );
});

test("a role for one table covers it, also in batches, and no other table", async () => {
  const user = userWith("table-contributor", OWN);
  const other = await filled();
  await filled("Own");
  for (const name of ["Own", "own"]) {
    assert.equal(await attempt(() => tableAs(user, name).getEntity("p", "r")), PERMITTED);
    const batch = () => tableAs(user, name).submitTransaction([["upsert", NEW]]);
    assert.equal(await attempt(batch), PERMITTED);
  }
  assert.equal(await attempt(() => tableAs(user, other).getEntity("p", "r")), MISMATCH);
  const batch = () => tableAs(user, other).submitTransaction([["upsert", NEW]]);
  assert.equal(await attempt(batch), MISMATCH);
  assert.equal(await attempt(() => serviceAs(user).listTables().next()), MISMATCH);
});
