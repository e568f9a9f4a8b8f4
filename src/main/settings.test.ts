import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { CERTIFICATE, CERTIFICATE_KEY } from "../../test/sdk/certificate.ts";
import { DIALECT } from "../front/smb/codec/negotiate.ts";
import { readCommandLine } from "./command-line.ts";
import { readSettings } from "./settings.ts";
import { StartError } from "./start-error.ts";

const folder = mkdtempSync(join(tmpdir(), "lazuli-"));
after(() => rmSync(folder, { recursive: true }));

const CERT = ["--cert", join(folder, "none.pem")];
const LONG_KEY = Buffer.alloc(64, "k").toString("base64");
const IN_FILE = (name: string) => ({ issuer: "x", keysFile: join(folder, name) });
const AT_HTTP = { issuer: "x", keysUrl: "http://x.example" };
const ISSUER = { issuer: "https://login.example.org", keysUrl: "https://login.example.org/keys" };
const UNUSABLE = { issuer: "https://login.example.org", keys: [{ kty: "RSA" }] };

function settings(args: string[], accounts = "", config?: unknown) {
  const file = join(folder, "lazuli.json");
  if (config !== undefined) writeFileSync(file, JSON.stringify(config));
  const all = config === undefined ? args : [...args, "--config", file];
  const asked = readCommandLine(all, { AZURITE_ACCOUNTS: accounts });
  assert.equal(asked.kind, "start");
  return readSettings((asked as Extract<typeof asked, { kind: "start" }>).options);
}

function names(...from: Parameters<typeof settings>): string[] {
  return [...settings(...from).accounts.byName.keys()];
}

test("accounts come from the file or the environment, or else are the development account", () => {
  assert.deepEqual(names([]), ["devstoreaccount1"]);
  assert.deepEqual(names([], "shop:YQ=="), ["shop"]);
  assert.deepEqual(names([], "", { accounts: [{ name: "store", keys: ["YQ=="] }] }), ["store"]);
  assert.deepEqual(names([], "", {}), ["devstoreaccount1"]);
});

test("contradictory settings are refused in one line that says what to do", () => {
  const accounts = [{ name: "store", keys: ["YQ=="] }];
  const wrong: [RegExp, number, ...Parameters<typeof settings>][] = [
    [/given twice.*keep one/, 2, [], "shop:YQ==", { accounts }],
    [/lazuli\.json:1:13: "accounts" names no account/, 2, [], "", { accounts: [] }],
    [
      /lazuli\.json:1:14: "accounts\[0\]": A key of the/,
      2,
      [],
      "",
      { accounts: [{ name: "a", keys: ["?"] }] },
    ],
    [/^AZURITE_ACCOUNTS: /, 2, [], "a:b:c:d"],
    [/Refusing to listen on 0\.0\.0\.0.*well-known/, 2, ["--host", "0.0.0.0"]],
    [
      /Refusing to listen on ::.*basic/,
      2,
      ["--smbHost", "::", "--oauth", "basic", ...CERT],
      `a:${LONG_KEY}`,
    ],
    [/Refusing to listen on ::.*"a" is shorter than 16 bytes/, 2, ["--smbHost", "::"], "a:YQ=="],
    [/--oauth basic contradicts/, 2, ["--oauth", "basic", ...CERT], "", { oauth: ISSUER }],
    [/needs HTTPS/, 2, [], "", { oauth: ISSUER }],
    [/lazuli\.json:1:10: "oauth": The signing key/, 2, CERT, "", { oauth: UNUSABLE }],
    [/none\.json cannot be read/, 1, CERT, "", { oauth: IN_FILE("none.json") }],
    [/lazuli\.json: It is not a JSON Web Key Set/, 2, CERT, "", { oauth: IN_FILE("lazuli.json") }],
    [/"oauth": "http:\/\/x\.example" .*Give an https/, 2, CERT, "", { oauth: AT_HTTP }],
    [/none\.pem cannot be read.*Check the path/, 1, CERT],
    [/no\.json cannot be read/, 1, ["--config", join(folder, "no.json")]],
  ];
  for (const [message, exitCode, ...from] of wrong) {
    assert.throws(
      () => settings(...from),
      (error) => {
        assert.ok(error instanceof StartError);
        assert.match(error.message, message);
        assert.ok(!error.message.includes("\n"));
        assert.equal(error.exitCode, exitCode);
        return true;
      },
    );
  }
});

test("SMB below 3.0 needs loopback unless a flag allows more", () => {
  const lowest = (...flags: string[]) => settings(flags, `shop:${LONG_KEY}`).smb.dialectMin;
  assert.equal(lowest(), DIALECT.smb202);
  assert.equal(lowest("--smbHost", "::1"), DIALECT.smb202);
  assert.equal(lowest("--host", "0.0.0.0"), DIALECT.smb300);
  assert.equal(lowest("--smbHost", "files.example"), DIALECT.smb300);
  assert.equal(lowest("--smbHost", "::", "--smbMinDialect", "2.1"), DIALECT.smb210);
  assert.equal(lowest("--smbMinDialect", "3.1.1"), DIALECT.smb311);
});

test("the limit of one address comes from the flag or the file, not from both", () => {
  const flag = ["--maxConnectionsPerAddress", "5"];
  const config = { maxConnectionsPerAddress: 7 };
  assert.equal(settings([]).connectionsPerAddress, null);
  assert.equal(settings(flag).connectionsPerAddress, 5);
  assert.equal(settings([], "", config).connectionsPerAddress, 7);
  assert.throws(() => settings(flag, "", config), /given twice.*lazuli\.json: keep one/);
});

test("with own accounts, or on a trusted network, any address is accepted", () => {
  assert.deepEqual(names(["--host", "0.0.0.0"], `shop:${LONG_KEY}`), ["shop"]);
  assert.deepEqual(names(["--host", "0.0.0.0", "--trustNetwork"]), ["devstoreaccount1"]);
});

test("a malformed copy origin is refused, with its file and line", () => {
  const wrong = { copySources: { origins: ["example.org"] } };
  assert.throws(
    () => settings([], "", wrong),
    (error: StartError) =>
      /lazuli\.json:1:16: "copySources": "example\.org" is no/.test(error.message),
  );
});

test("roles are given to the accounts, wherever those come from", () => {
  const roles = [{ principal: { sub: "me" }, role: "blob-reader" }];
  const given = settings([], "shop:YQ==", { roles }).accounts.byName.get("shop");
  assert.deepEqual(
    given?.roles.map(({ role }) => role.name),
    ["blob-reader"],
  );
  assert.deepEqual(settings([], "shop:YQ==").accounts.byName.get("shop")?.roles, []);
  const wrong = [{ ...roles[0], scope: "store" }];
  assert.throws(() => settings([], "shop:YQ==", { roles: wrong }), /"store"\. There is: shop\./);
});

test("roles that do less than it seems are warned of", () => {
  writeFileSync(join(folder, "cert.pem"), CERTIFICATE);
  writeFileSync(join(folder, "key.pem"), CERTIFICATE_KEY);
  const secure = ["--cert", join(folder, "cert.pem"), "--key", join(folder, "key.pem")];
  const basic = [...secure, "--oauth", "basic"];
  const role = { principal: { sub: "me" }, role: "blob-reader" };
  const warned = (args: string[], given: object) =>
    settings(args, `shop:${LONG_KEY};store:${LONG_KEY}`, given).warnings;
  assert.deepEqual(warned([], {}), []);
  assert.deepEqual(warned(basic, { roles: [role] }), []);
  assert.match(warned([], { roles: [role] }).join(), /^no bearer tokens are taken/);
  const one = warned(basic, { roles: [{ ...role, scope: "shop" }] });
  assert.match(one.join(), /^the account "store" has no roles: every accepted token/);
});

test("accounts are in the database that they name, or in that of --records", () => {
  const east = { name: "east", records: "postgres://a@db1/x", bytes: "/mnt/east" };
  const west = { name: "west", records: "postgres://a@db2/x", bytes: "/mnt/west" };
  const shop = { name: "shop", keys: [LONG_KEY], database: "west" };
  const logs = { name: "logs", keys: [LONG_KEY] };
  const own = ["--records", "postgres://a@db3/x", "--bytes", "/mnt/own"];
  const databases = [east, west];
  const both = settings(own, "", { databases, accounts: [shop, logs] });
  assert.deepEqual(
    both.places.map(({ name, shared }) => [name, shared?.bytes]),
    [
      [null, "/mnt/own"],
      ["east", "/mnt/east"],
      ["west", "/mnt/west"],
    ],
  );
  assert.deepEqual([...both.placeOfAccount], [["shop", "west"]]);
  const named = settings([], "", { databases, accounts: [shop] });
  assert.deepEqual([named.location, named.places.length], [null, 2]);
  const wrong: [string[], object, RegExp][] = [
    [[], { databases, accounts: [shop, logs] }, /the account "logs" names no database: add/],
    [[], { databases }, /default account: the account "devstoreaccount1" names no database/i],
    [["--inMemoryPersistence"], { databases, accounts: [shop] }, /contradict each other/],
    [["--lab"], { databases, accounts: [shop] }, /the database has the clock/],
    [
      ["--records", east.records, ...own.slice(2)],
      { databases },
      /"east": --records names the same/,
    ],
    [
      [],
      { databases: [{ ...east, s3: { region: "x" } }, west], accounts: [shop] },
      /database "east": "s3" is about a bucket: name it in "bytes"/,
    ],
    [
      [],
      { databases: [east, { ...west, bytes: "s3:/x" }], accounts: [shop] },
      /lazuli\.json: database "west": --bytes s3:\/x cannot be used/,
    ],
    [
      ["--bytes", "s3://bucket/x"],
      {
        databases: [west],
        s3: { accessKeyId: "a", secretAccessKey: "b" },
        accounts: [shop],
      },
      /--bytes belongs to --records, and \S+lazuli\.json has "databases": give each/,
    ],
  ];
  for (const [args, config, message] of wrong) {
    assert.throws(() => settings(args, "", config), message, JSON.stringify(config));
  }
});
