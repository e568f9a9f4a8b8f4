import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import type { Config } from "./config-file.ts";
import { changesBetween, type Reloadable } from "./settings-changes.ts";

const KEY = "c2VjcmV0IGtleSBvZiBhbiBhY2NvdW50";
const OTHER_KEY = "YW5vdGhlciBrZXkgb2YgYW4gYWNjb3VudA==";

function settings(config: Config, cert = "one"): Reloadable {
  const tls = { cert: Buffer.from(cert), key: Buffer.from("key") };
  return { config, statedAccounts: config.accounts ?? [], tls };
}

test("the line about a reload names what has changed, and shows no key", () => {
  const before = settings({
    accounts: [
      { name: "a", keys: [KEY] },
      { name: "b", keys: [KEY] },
      { name: "c", keys: [KEY, OTHER_KEY], domains: ["x"] },
      { name: "d", keys: [KEY] },
    ],
    maxConnectionsPerAddress: 5,
  });
  const after = settings(
    {
      accounts: [
        { name: "e", keys: [KEY] },
        { name: "d", keys: [OTHER_KEY], blob: { versioning: true, containerRetentionDays: null } },
        { name: "c", keys: [OTHER_KEY, KEY], domains: ["y"] },
      ],
      oauth: { issuer: "https://a.example", from: { file: "keys.json" } },
      copySources: { origins: [], networks: [] },
      maxConnectionsPerAddress: 6,
    },
    "two",
  );
  const changes = changesBetween(before, after);
  assert.deepEqual(changes, [
    "added the account e",
    "removed the accounts a, b",
    "other keys of the accounts d, c",
    "other domains of the account c",
    "other settings of the account d",
    "another token issuer",
    "other sources of copies",
    "another limit of connections per address",
    "another certificate",
  ]);
  assert.ok(!inspect(changes).includes(KEY) && !inspect(changes).includes(OTHER_KEY));
  assert.deepEqual(changesBetween(after, after), []);
});

test("a long list of names is cut", () => {
  const many = Array.from({ length: 12 }, (_, at) => ({ name: `a${at}`, keys: [KEY] }));
  assert.deepEqual(changesBetween(settings({}), settings({ accounts: many })), [
    "added the accounts a0, a1, a2, a3, a4, a5, a6, a7, a8, a9 and 2 more",
  ]);
});
