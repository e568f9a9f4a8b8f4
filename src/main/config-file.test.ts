import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { readConfig } from "./config-file.ts";

const KEY = "c2VjcmV0";
const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const SIGNING_KEY = { ...publicKey.export({ format: "jwk" }), kid: "1" };

test("a configuration file may have accounts and a token issuer", () => {
  const shop = { name: "shop", keys: [KEY, KEY], domains: ["files.example.org"] };
  const issuer = "https://login.example.org/";
  const terms = { issuer, audience: "api://shop" };
  const keys = [SIGNING_KEY];
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

test("mistakes are named by file, line and field, and no key is repeated", () => {
  const wrong: [unknown, RegExp][] = [
    [[], /the file must be an object/],
    [{ account: [] }, /"account" is not known here\. There is: accounts, databases/],
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
    [{ accounts: [{ name: "a", keys: [KEY], domains: ["http://x"] }] }, /is not a host name/],
    [{ accounts: [{ name: "a", keys: [KEY], domains: ["x:80"] }] }, /is not a host name/],
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
        error.message.startsWith("a.json:1:") &&
        message.test(error.message) &&
        !error.message.includes(KEY),
      text,
    );
  }
});

test("a mistake is found by line and column, also one that no single field makes", () => {
  const good = `{"name": "shop", "keys": ["${KEY}"], "domains": ["a.example"]}`;
  for (const [text, place, message] of [
    [`{\n  "accounts": [\n    {"keys": ["${KEY}",]}]}`, "3:26", /not valid JSON: a value is/],
    [`{\n  "accounts": [\n    {"keys": ["${KEY}"]}]}`, "3:5", /"accounts\[0\]\.name" is missing/],
    [`{"accounts": [\n${good},\n${good}]}`, "3:1", /"accounts\[1\]": .* configured twice/],
    [`{"accounts": [\n${good.replace("shop", "Shop")}]}`, "2:1", /"accounts\[0\]": "Shop" cannot/],
    [`{"accounts": [${good.replace("a.ex", "http://a.ex")}]}`, "1:66", /domains\[0\]": "http:/],
    ['{\n"accounts": [],\n"accounts": []}', "3:1", /"accounts" is given twice/],
    ['{"accounts": []}', "1:14", /"accounts" names no account/],
    ['{\n"copySources": {"origins": ["x"]}}', "2:16", /"copySources": "x"/],
    [`{\n"oauth": {"issuer": "x", "keys": [{"kty": "oct", "k": "${KEY}"}]}}`, "2:10", /"oauth": /],
  ] as const) {
    assert.throws(
      () => readConfig("a.json", text),
      (error: Error) => {
        assert.ok(error.message.startsWith(`a.json:${place}: `), error.message);
        assert.match(error.message, message);
        return !error.message.includes(KEY);
      },
      text,
    );
  }
});

test("the connections per address are a number from 1 on", () => {
  const read = (value: unknown) =>
    readConfig("a.json", JSON.stringify({ maxConnectionsPerAddress: value }));
  assert.deepEqual(read(500), { maxConnectionsPerAddress: 500 });
  for (const wrong of [0, -1, 1.5, "500", null]) {
    assert.throws(() => read(wrong), /"maxConnectionsPerAddress" must be a whole number from 1/);
  }
});
