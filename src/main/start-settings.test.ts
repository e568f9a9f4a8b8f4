import assert from "node:assert/strict";
import { test } from "node:test";
import type { StartOptions } from "./start-options.ts";
import { FLAG_OPTIONS, readStartOptions } from "./start-settings.ts";

const KEY = Buffer.alloc(32, 1).toString("base64");
/** Every option; it does not compile if the type has another one. */
const EVERY_OPTION: Required<StartOptions> = {
  services: ["blob", "queue", "table", "file", "dfs", "smb"],
  accounts: [{ name: "shop", keys: [KEY] }],
  config: {},
  onLine: () => {},
  location: "data",
  inMemoryPersistence: false,
  extentMemoryLimit: 1,
  records: "postgres://localhost/lazuli",
  bytes: "bytes",
  s3Endpoint: "http://127.0.0.1:9000",
  s3Region: "eu-central-1",
  s3AddressStyle: "path",
  s3Credentials: "credentials",
  s3Ca: "ca.pem",
  seed: "seed.yaml",
  acceptDataLoss: true,
  scrub: 1,
  host: "127.0.0.1",
  blobHost: "127.0.0.1",
  queueHost: "127.0.0.1",
  tableHost: "127.0.0.1",
  fileHost: "127.0.0.1",
  dfsHost: "127.0.0.1",
  smbHost: "127.0.0.1",
  blobPort: 1,
  queuePort: 2,
  tablePort: 3,
  filePort: 4,
  smbPort: 5,
  dfsPort: 6,
  blobKeepAliveTimeout: 1,
  queueKeepAliveTimeout: 1,
  tableKeepAliveTimeout: 1,
  fileKeepAliveTimeout: 1,
  dfsKeepAliveTimeout: 1,
  listener: "node",
  disableProductStyleUrl: true,
  maxConnections: 1,
  maxConnectionsPerAddress: 1,
  stopDelay: 1,
  cert: "cert.pem",
  key: "key.pem",
  pwd: "secret",
  oauth: "basic",
  trustNetwork: true,
  smbEncryption: "off",
  smbMinDialect: "3.0",
  log: "-",
  logFormat: "json",
  debug: "debug.log",
  metricsPort: 0,
  metricsHost: "127.0.0.1",
  consolePort: 0,
  consoleHost: "127.0.0.1",
  lab: false,
  labPort: 0,
};

/** The options that are no flags. */
const BEYOND_FLAGS = ["accounts", "onLine"];

/** Checks options that a caller without types could pass. */
function read(options: unknown) {
  return readStartOptions(options as StartOptions);
}

test("every flag that makes sense in a program is an option, and the other way round", () => {
  const names = FLAG_OPTIONS.map(({ name }) => name);
  const expected = [...names, ...BEYOND_FLAGS, "services"].sort();
  assert.deepEqual(Object.keys(EVERY_OPTION).sort(), [...new Set(expected)].sort());
});

test("without options everything is in memory and on free ports of this machine", () => {
  const { location, listen, services, statedAccounts } = read({});
  assert.equal(location, null);
  assert.deepEqual(services, ["blob", "queue", "table", "file", "dfs", "smb"]);
  for (const service of services) {
    assert.deepEqual([listen[service].host, listen[service].port], ["127.0.0.1", 0]);
  }
  assert.deepEqual(
    statedAccounts.map(({ name }) => name),
    ["devstoreaccount1"],
  );
});

test("options mean what the flags of the same name mean", () => {
  const settings = read({
    services: ["blob", "smb"],
    location: "data",
    blobPort: 4000,
    blobKeepAliveTimeout: 7,
    listener: "node",
    smbEncryption: "off",
    disableProductStyleUrl: true,
    acceptDataLoss: false,
    scrub: undefined,
    config: { maxConnectionsPerAddress: 5 },
    accounts: [{ name: "shop", keys: [KEY], blob: { versioning: true } }],
  });
  assert.deepEqual(settings.services, ["blob", "smb"]);
  assert.equal(settings.location, "data");
  assert.deepEqual(settings.listen.blob, { host: "127.0.0.1", port: 4000, keepAliveMs: 7000 });
  assert.equal(settings.listener, "node");
  assert.equal(settings.smb.encryption, "off");
  assert.equal(settings.pathStyleOnly, true);
  assert.equal(settings.acceptDataLoss, false);
  assert.equal(settings.connectionsPerAddress, 5);
  assert.deepEqual([...settings.accounts.byName.keys()], ["shop"]);
  assert.equal(settings.blobSettings.get("shop")?.versioning, true);
});

test("a wrong option is refused with a sentence that says what to do", () => {
  const list = '"blob", "queue", "table", "file", "dfs", "smb"';
  const refusals: [options: unknown, message: string][] = [
    [{ blobport: 1 }, 'start(): there is no option "blobport". Did you mean blobPort?'],
    [{ silent: true }, 'start(): there is no option "silent". See docs/guides/testing.md.'],
    [{ services: ["bolb"] }, `start(): services must be a list of one or more of ${list}.`],
    [{ services: [] }, `start(): services must be a list of one or more of ${list}.`],
    [{ services: "blob" }, `start(): services must be a list of one or more of ${list}.`],
    [{ services: ["blob"], filePort: 1 }, 'start(): filePort needs "file" in services.'],
    [{ blobPort: "10000" }, "start(): blobPort must be a number."],
    [{ blobPort: 1.5 }, '--blobPort needs a port, from 0 to 65535, not "1.5".'],
    [{ location: 3 }, "start(): location must be a string."],
    [{ location: "" }, "--location needs a value: --location <folder>."],
    [{ trustNetwork: "no" }, "start(): trustNetwork must be a boolean."],
    [{ accounts: [{ name: "shop" }] }, 'start(): "accounts[0].keys" is missing.'],
    [{ accounts: [] }, 'start(): "accounts" names no account. Give at least one, or leave it out.'],
    [
      { accounts: [], config: "lazuli.json" },
      "start() has accounts twice, in accounts and in lazuli.json: keep one of them.",
    ],
    [
      { location: "data", inMemoryPersistence: true },
      "--inMemoryPersistence and --location contradict each other: leave one of them out.",
    ],
    [
      { host: "0.0.0.0" },
      "Refusing to listen on 0.0.0.0 while an account has the well-known development key. " +
        "Set accounts of your own in AZURITE_ACCOUNTS or --config, or add --trustNetwork " +
        "(for a container: LAZULI_TRUST_NETWORK=true).",
    ],
  ];
  for (const [options, message] of refusals) assert.throws(() => read(options), { message });
});

test("the environment does not reach a server that a program starts", (t) => {
  const before = process.env.AZURITE_ACCOUNTS;
  t.after(() => {
    if (before === undefined) delete process.env.AZURITE_ACCOUNTS;
    else process.env.AZURITE_ACCOUNTS = before;
  });
  process.env.AZURITE_ACCOUNTS = `other:${KEY}`;
  assert.deepEqual([...read({}).accounts.byName.keys()], ["devstoreaccount1"]);
});
