import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "./config-file.ts";

const KEY = "c2VjcmV0";

test("a configuration file may have accounts and a token issuer", () => {
  const shop = { name: "shop", keys: [KEY, KEY], domains: ["files.example.org"] };
  const issuer = "https://login.example.org/";
  const terms = { issuer, audience: "api://shop" };
  const keys = [{ kty: "RSA", kid: "1" }];
  const text = JSON.stringify({ accounts: [shop], oauth: { ...terms, keys } });
  assert.deepEqual(readConfig("a.json", text), {
    accounts: [shop],
    oauth: { ...terms, from: { keys } },
  });
  assert.deepEqual(readConfig("a.json", "{}"), {});
});

test("the keys of an issuer are in the file, in another file, or at a URL", () => {
  const read = (from: object) => {
    const oauth = { issuer: "x", ...from };
    return readConfig("a.json", JSON.stringify({ oauth })).oauth?.from;
  };
  assert.deepEqual(read({ keysFile: "keys.json" }), { file: "keys.json" });
  const url = "https://login.example.org/keys";
  assert.deepEqual(read({ keysUrl: url }), { url, networks: [] });
  const networks = ["10.0.0.0/8"];
  assert.deepEqual(read({ keysUrl: url, networks }), { url, networks });
});

test("an account sets blob versioning, and the retention of deleted containers", () => {
  const read = (blob: unknown) => {
    const accounts = [{ name: "shop", keys: [KEY], blob }];
    return readConfig("a.json", JSON.stringify({ accounts })).accounts?.[0]?.blob;
  };
  const both = { versioning: true, containerRetentionDays: 7 };
  assert.deepEqual(read(both), both);
  assert.deepEqual(read({}), { versioning: false, containerRetentionDays: null });
});

test("an account sets how long deleted shares can be restored", () => {
  const read = (file: unknown) => {
    const accounts = [{ name: "shop", keys: [KEY], file }];
    return readConfig("a.json", JSON.stringify({ accounts })).accounts?.[0]?.file;
  };
  assert.deepEqual(read({ shareRetentionDays: 7 }), { shareRetentionDays: 7 });
  assert.deepEqual(read({}), { shareRetentionDays: null });
});

test("allowed copy sources are listed by origin, and private networks by range", () => {
  const copySources = { origins: ["https://a.example"], networks: ["10.0.0.0/8"] };
  assert.deepEqual(readConfig("a.json", JSON.stringify({ copySources })), { copySources });
  const origins = { copySources: { origins: [] } };
  assert.deepEqual(readConfig("a.json", JSON.stringify(origins)).copySources?.networks, []);
  for (const [wrong, message] of [
    [{}, /"copySources\.origins" is missing/],
    [{ origins: "x" }, /"copySources\.origins" must be a list/],
    [{ origins: [], hosts: [] }, /"copySources\.hosts" is not known here/],
  ] as const) {
    const text = JSON.stringify({ copySources: wrong });
    assert.throws(() => readConfig("a.json", text), message);
  }
});

test("mistakes are named by file and field, and no key is repeated", () => {
  const wrong: [unknown, RegExp][] = [
    [[], /the file must be an object/],
    [{ account: [] }, /"account" is not known here\. There is: accounts, oauth/],
    [{ accounts: {} }, /"accounts" must be a list/],
    [{ accounts: [1] }, /"accounts\[0\]" must be an object/],
    [{ accounts: [{ keys: [KEY] }] }, /"accounts\[0\]\.name" is missing/],
    [{ accounts: [{ name: "a", keys: KEY }] }, /"accounts\[0\]\.keys" must be a list/],
    [{ accounts: [{ name: "a", keys: [1] }] }, /"accounts\[0\]\.keys" must be a list of texts/],
    [
      { accounts: [{ name: "a", keys: [KEY], versioning: true }] },
      /accounts\[0\]\.versioning" is not/,
    ],
    [
      { accounts: [{ name: "a", keys: [KEY], blob: { versioning: "on" } }] },
      /"accounts\[0\]\.blob\.versioning" must be true or false/,
    ],
    [
      { accounts: [{ name: "a", keys: [KEY], blob: { containerRetentionDays: 366 } }] },
      /"accounts\[0\]\.blob\.containerRetentionDays" must be a whole number from 1 to 365/,
    ],
    [
      { accounts: [{ name: "a", keys: [KEY], blob: { softDelete: true } }] },
      /"accounts\[0\]\.blob\.softDelete" is not known here/,
    ],
    [
      { accounts: [{ name: "a", keys: [KEY], file: { shareRetentionDays: 0 } }] },
      /"accounts\[0\]\.file\.shareRetentionDays" must be a whole number from 1 to 365/,
    ],
    [{ accounts: [{ name: "a", keys: [KEY], domains: ["http://x"] }] }, /not a host name/],
    [{ accounts: [{ name: "a", keys: [KEY], domains: ["x:80"] }] }, /not a host name/],
    [{ oauth: { keys: [] } }, /"oauth\.issuer" is missing/],
    [{ oauth: { issuer: "x" } }, /"oauth" needs the issuer's keys in one place/],
    [{ oauth: { issuer: "x", keys: [], keysUrl: "y" } }, /in one place/],
    [{ oauth: { issuer: "x", keysFile: "f", networks: [] } }, /"oauth\.networks" is not known/],
    [{ oauth: { issuer: "", keys: [] } }, /"oauth\.issuer" must be a text/],
    [{ oauth: { issuer: "x", keys: [], secret: KEY } }, /"oauth\.secret" is not known/],
  ];
  for (const [config, message] of wrong) {
    const text = JSON.stringify(config);
    assert.throws(
      () => readConfig("a.json", text),
      (error: Error) =>
        error.message.startsWith("a.json: ") &&
        message.test(error.message) &&
        !error.message.includes(KEY),
      text,
    );
  }
  assert.throws(
    () => readConfig("a.json", `{"accounts":[{"keys":["${KEY}",]}]}`),
    (error: Error) => {
      return /^a\.json is not valid JSON/.test(error.message) && !error.message.includes(KEY);
    },
  );
});

test("the connections per address are a number from 1 on", () => {
  const read = (value: unknown) =>
    readConfig("a.json", JSON.stringify({ maxConnectionsPerAddress: value }));
  assert.deepEqual(read(500), { maxConnectionsPerAddress: 500 });
  for (const wrong of [0, -1, 1.5, "500", null]) {
    assert.throws(() => read(wrong), /"maxConnectionsPerAddress" must be a whole number from 1/);
  }
});
