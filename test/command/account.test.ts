import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { BlobServiceClient } from "@azure/storage-blob";
import { QueueServiceClient } from "@azure/storage-queue";
import { CERTIFICATE, CERTIFICATE_KEY } from "../sdk/certificate.ts";
import { refused } from "../sdk/refused.ts";
import { newKey, ReloadedServer } from "./reloading.ts";

const LAZULI = fileURLToPath(new URL("../../../bin/lazuli.cjs", import.meta.url));

let files = 0;
const scratch = mkdtempSync(join(tmpdir(), "lazuli-account-"));
after(() => rmSync(scratch, { recursive: true }));
const newFile = () => join(scratch, `lazuli${++files}.json`);

interface Done {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs `lazuli account …`, away from the data folder of any server. */
function account(line: string, options: { env?: object; input?: string } = {}): Done {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [LAZULI, "account", ...line.split(" ")],
    {
      cwd: scratch,
      encoding: "utf8",
      env: { ...process.env, AZURITE_ACCOUNTS: "", ...options.env },
      input: options.input ?? "",
    },
  );
  return { code: status, out: stdout, err: stderr };
}

function accountsIn(file: string): { name: string; keys: string[] }[] {
  return JSON.parse(readFileSync(file, "utf8")).accounts;
}

test("account add makes a private file with an account of two keys, and shows no key", () => {
  const file = newFile();
  const { code, out, err } = account(`add shop --config ${file}`);
  assert.deepEqual([code, err], [0, ""]);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const [shop] = accountsIn(file);
  assert.equal(shop?.name, "shop");
  assert.deepEqual(
    shop?.keys.map((key) => Buffer.from(key, "base64").length),
    [64, 64],
  );
  assert.notEqual(shop?.keys[0], shop?.keys[1]);
  assert.match(out, /^Added the account shop to .*devstoreaccount1/);
  assert.match(out, /lazuli account list shop --config \S+ --showKeys\n$/);
  const listed = account(`list --config ${file}`);
  assert.match(listed.out, /^shop key1=SHA256:[0-9a-f]{16} key2=SHA256:[0-9a-f]{16}\n$/);
  for (const key of shop?.keys ?? []) assert.ok(!(out + listed.out).includes(key));
  const shown = account(`list shop --config ${file} --showKeys`).out;
  assert.equal(shown, `shop key1=${shop?.keys[0]} key2=${shop?.keys[1]}\n`);
});

test("account rotate-key replaces one key and leaves the other", () => {
  const file = newFile();
  account(`add shop --config ${file}`);
  const [before] = accountsIn(file);
  assert.equal(account(`rotate-key shop --config ${file} --keyName key1`).code, 0);
  const [after] = accountsIn(file);
  assert.notEqual(after?.keys[0], before?.keys[0]);
  assert.equal(after?.keys[1], before?.keys[1]);
  const { out } = account(`rotate-key shop --config ${file} --keyName key2 --showKeys`);
  const [last] = accountsIn(file);
  assert.equal(last?.keys[0], after?.keys[0]);
  assert.ok(out.endsWith(`shop key1=${last?.keys[0]} key2=${last?.keys[1]}\n`), out);
});

test("an account with one key gets a second one as key2", () => {
  const file = newFile();
  const key = newKey();
  writeFileSync(file, JSON.stringify({ accounts: [{ name: "shop", keys: [key] }] }));
  assert.equal(account(`rotate-key shop --config ${file} --keyName key2`).code, 0);
  assert.equal(accountsIn(file)[0]?.keys[0], key);
  assert.equal(accountsIn(file)[0]?.keys.length, 2);
});

test("the file keeps its format, its other settings, its mode and its links", () => {
  const [file, link] = [newFile(), newFile()];
  const key = newKey();
  const text = [
    "{",
    '\t"maxConnectionsPerAddress" : 9,',
    '\t"accounts": [',
    `\t\t{ "name": "a", "keys": ["${key}"], "blob": {"versioning": true} },`,
    `\t\t{ "name": "b", "keys": ["${key}"] }`,
    "\t]",
    "}",
    "",
  ].join("\n");
  writeFileSync(file, text);
  chmodSync(file, 0o640);
  symlinkSync(file, link);
  const [one, two] = [newKey(), newKey()];
  assert.equal(
    account(`add c --config ${link} --accountKeys -`, {
      input: `${one.slice(0, 64)}\n${one.slice(64)},\n${two}\n`,
    }).code,
    0,
  );
  assert.deepEqual(accountsIn(file)[2], { name: "c", keys: [one, two] });
  assert.equal(account(`remove b --config ${link}`).code, 0);
  assert.equal(account(`remove c --config ${link}`).code, 0);
  assert.equal(readFileSync(file, "utf8"), text.replace(/,\n\t\t\{ "name": "b".*\}/, ""));
  assert.equal(statSync(file).mode & 0o777, 0o640);
  assert.ok(readdirSync(scratch).every((name) => /^lazuli\d+\.json$/.test(name)));
});

test("nonsense is refused in one line, and nothing changes", () => {
  const file = newFile();
  const key = newKey();
  writeFileSync(file, JSON.stringify({ accounts: [{ name: "shop", keys: [key] }] }));
  const broken = newFile();
  writeFileSync(broken, `{"accounts": [{"name": "shop", "keys": ["${key}"]}]`);
  const wrong: [string, RegExp, object?][] = [
    [`add shop --config ${file}`, /has an account "shop" already.*rotate-key/],
    [`add Shop --config ${file}`, /"Shop" cannot be the name of an account/],
    [
      `add a --config ${file} --accountKeys ${key},${key},${key}`,
      /has 3 keys\. Give it one or two/,
    ],
    [
      `add a --config ${file} --accountKeys c2hvcnQ=`,
      /No account was added: a key.*shorter than 16/,
    ],
    [`remove shop --config ${file}`, /"shop" is the only account.*Add another first/],
    [`remove other --config ${file}`, /has no account "other"\. It has: shop\./],
    [`list other --config ${file}`, /has no account "other"/],
    [`list --config ${file}x`, /does not exist/],
    [`add a --config ${broken}`, /lazuli\d+\.json:1:\d+: this is not valid JSON/],
    [`add a --config ${scratch}`, /cannot be read/],
    [`list --config ${file}`, /AZURITE_ACCOUNTS is set.*Unset it/, { AZURITE_ACCOUNTS: "a:YQ==" }],
  ];
  const before = [readFileSync(file), readFileSync(broken)];
  for (const [line, message, env] of wrong) {
    const { code, out, err } = account(line, env === undefined ? {} : { env });
    assert.ok(code === 1 || code === 2, line);
    assert.equal(out, "");
    assert.match(err, message);
    assert.match(err, /^[^\n]+\n$/);
    assert.ok(!err.includes(key));
  }
  assert.deepEqual([readFileSync(file), readFileSync(broken)], before);
});

async function statusOf(server: ReloadedServer, name: string, key: string): Promise<void> {
  await (await server.blobs(name, key)).getProperties();
}

test("account add names a database of the file, and says how front ends learn of the account", () => {
  const file = newFile();
  const east = { name: "east", records: "postgres://db/lazuli", bytes: "/mnt/bytes" };
  writeFileSync(file, JSON.stringify({ databases: [east] }));
  const { code, out, err } = account(`add shop --database east --config ${file}`);
  assert.deepEqual([code, err], [0, ""]);
  assert.equal((accountsIn(file)[0] as { database?: string }).database, "east");
  assert.match(
    out,
    /^When all front ends have this file: lazuli reload --config .* --database <one/m,
  );
  const before = readFileSync(file, "utf8");
  const wrong = account(`add logs --database west --config ${file}`);
  assert.equal(wrong.code, 2);
  assert.match(
    wrong.err,
    /"accounts\[1\].database": there is no database "west". There is: "east"/,
  );
  assert.equal(readFileSync(file, "utf8"), before);
});

test("account commands make the server reload: the old key is refused, the other one works", async (t) => {
  const [key1, key2] = [newKey(), newKey()];
  const server = new ReloadedServer(t, { accounts: [{ name: "shop", keys: [key1, key2] }] });
  await server.origin();
  const place = `--config ${server.config} --location ${server.location}`;
  const rotated = account(`rotate-key shop ${place} --keyName key1`);
  assert.match(rotated.out, /^The configuration is reloaded: other keys of the account shop\.$/m);
  await refused(statusOf(server, "shop", key1), 403, "AuthenticationFailed");
  await statusOf(server, "shop", key2);
  await statusOf(server, "shop", accountsIn(server.config)[0]?.keys[0] ?? "");
  assert.match(account(`add web ${place}`).out, /reloaded: added the account web\./);
  await statusOf(server, "web", accountsIn(server.config)[1]?.keys[1] ?? "");
  assert.match(account(`remove web ${place}`).out, /reloaded: removed the account web\./);
  await refused(statusOf(server, "web", key1), 403, "AuthenticationFailed");
  const elsewhere = newFile();
  const added = account(`add web --config ${elsewhere} --location ${server.location}`);
  assert.match(added.out, /^No server on \S+ uses \S+\. .*lazuli reload --location/m);
});

test("if the server refuses, the file is as before", async (t) => {
  const files = { "cert.pem": CERTIFICATE, "key.pem": CERTIFICATE_KEY };
  const args = ["--cert", "cert.pem", "--key", "key.pem"];
  const config = { accounts: [{ name: "shop", keys: [newKey()] }] };
  const server = new ReloadedServer(t, config, { args, files });
  await server.origin();
  const before = readFileSync(server.config, "utf8");
  server.save("key.pem", "no key");
  const { code, out, err } = account(
    `add web --config ${server.config} --location ${server.location}`,
  );
  assert.deepEqual([code, out], [1, ""]);
  assert.match(err, /^The configuration is not reloaded.*cert\.pem.* is as before\.\n$/);
  assert.equal(readFileSync(server.config, "utf8"), before);
});

test("account list --connectionString prints what a client connects with, and only on request", async (t) => {
  const accounts = [
    { name: "shop", keys: [newKey(), newKey()] },
    { name: "web", keys: [newKey()] },
  ];
  const server = new ReloadedServer(t, { accounts }, { services: "blob,queue,smb" });
  await server.origin();
  const place = `--config ${server.config} --location ${server.location}`;
  const { code, out, err } = account(`list web ${place} --connectionString`);
  assert.deepEqual([code, err], [0, ""]);
  const queues = QueueServiceClient.fromConnectionString(out.trim());
  await queues.createQueue("work");
  await BlobServiceClient.fromConnectionString(out.trim()).createContainer("box");
  const all = account(`list ${place} --connectionString`).out;
  assert.deepEqual(
    [...all.matchAll(/AccountName=(\w+);AccountKey=([^;]+);/g)].map(([, name, key]) => [name, key]),
    accounts.map(({ name, keys }) => [name, keys[0]]),
  );
  assert.doesNotMatch(account(`list ${place}`).out, /AccountKey/);
});

test("without a running server there is no connection string, but a line that says so", async (t) => {
  const server = new ReloadedServer(t, { accounts: [{ name: "shop", keys: [newKey()] }] });
  await server.origin();
  const ask = (config: string) =>
    account(`list --config ${config} --location ${server.location} --connectionString`);
  const other = newFile();
  account(`add shop --config ${other}`);
  const refusal = /^No server on \S+ with a REST service uses \S+\.json, .*Start it, or .*\n$/;
  const isRefused = ({ code, out, err: line }: Done) => {
    assert.deepEqual([code, out], [1, ""]);
    assert.match(line, refusal);
  };
  isRefused(ask(other));
  // A killed server leaves its control file behind.
  await server.process.kill();
  isRefused(ask(server.config));
});
