import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "./config-file.ts";

const KEY = "c2VjcmV0";
const EAST = { name: "east", records: "postgres://u:secret@db1/lazuli", bytes: "/mnt/east" };
const WEST = { name: "west", records: "postgres://u:secret@db2/lazuli", bytes: "s3://west/lazuli" };

function read(config: object) {
  return readConfig("a.json", JSON.stringify(config, null, 1));
}

test("databases have names, and accounts name theirs", () => {
  const s3 = { endpoint: "http://10.0.0.1:9000" };
  const accounts = [
    { name: "shop", keys: [KEY], database: "east" },
    { name: "logs", keys: [KEY] },
  ];
  const found = read({ databases: [EAST, { ...WEST, s3 }], accounts });
  assert.deepEqual(found.databases?.[0], EAST);
  assert.equal(found.databases?.[1]?.s3?.endpoint, s3.endpoint);
  assert.deepEqual(
    found.accounts?.map(({ database }) => database),
    ["east", undefined],
  );
  const twoSchemas = { ...WEST, records: `${EAST.records}?schema=other` };
  assert.equal(read({ databases: [EAST, twoSchemas] }).databases?.length, 2);
});

test("a mistake about databases is named by line and field, without a password", () => {
  const account = (database: string) => ({ name: "shop", keys: [KEY], database });
  const renamed = { ...EAST, name: "west" };
  const wrong: [object, RegExp][] = [
    [{ databases: [] }, /^a\.json:2:\d+: "databases" names no database/],
    [{ databases: [{ name: "east" }] }, /"databases\[0\]\.records" is missing/],
    [{ databases: [{ ...EAST, bytes: undefined }] }, /"databases\[0\]\.bytes" is missing/],
    [{ databases: [{ ...EAST, name: "East" }] }, /\.name": "East" must have 1 to 63 lower-case/],
    [{ databases: [{ ...EAST, name: "default" }] }, /"default" is the name of the database of/],
    [{ databases: [{ ...EAST, records: "mysql://x" }] }, /"databases\[0\]\.records": it must look/],
    [{ databases: [{ ...EAST, record: "" }] }, /"databases\[0\]\.record" is not known here/],
    [
      { databases: [EAST, { ...WEST, name: "east" }] },
      /\[1\]\.name": there are two databases "east"/,
    ],
    [
      { databases: [EAST, renamed] },
      /^a\.json:10:\d+: "databases\[1\]\.records": the database "east" has the same records/,
    ],
    [
      { databases: [EAST, { ...renamed, records: "postgres://x@db9,DB1:5432/lazuli" }] },
      /"databases\[1\]\.records": the database "east" has the same records/,
    ],
    [
      { databases: [EAST], records: EAST.records },
      /"databases\[0\]\.records": --records names the same records\. Leave the database out/,
    ],
    [{ databases: [EAST], records: "nothing" }, /"records": it must look like postgres/],
    [
      { databases: [EAST, WEST], accounts: [account("north")] },
      /"accounts\[0\]\.database": there is no database "north"\. There is: "east", "west"/,
    ],
    [{ accounts: [account("north")] }, /there is no database "north": add it to "databases"/],
    [
      { databases: [EAST, WEST], accounts: [account("east"), account("west")] },
      /"accounts\[1\]": The account "shop" is configured twice/,
    ],
  ];
  for (const [config, message] of wrong) {
    assert.throws(
      () => read(config),
      (error: Error) => message.test(error.message) && !error.message.includes("secret"),
      JSON.stringify(config),
    );
  }
});
