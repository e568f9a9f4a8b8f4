import assert from "node:assert/strict";
import { test } from "node:test";
import { readAddress } from "./address.ts";

test("a URL names hosts, user, password, database and schema", () => {
  const { hosts, user, password, database, schema, ssl } = readAddress(
    "postgres://me:p%40ss@one:5433,two,[::1]:6000/data?schema=mine",
  );
  assert.deepEqual(hosts, [
    { host: "one", port: 5433 },
    { host: "two", port: 5432 },
    { host: "::1", port: 6000 },
  ]);
  assert.deepEqual([user, password, database, schema, ssl], ["me", "p@ss", "data", "mine", false]);
});

test("what a URL leaves out has a default", () => {
  const { hosts, user, password, database, schema } = readAddress("postgresql://");
  assert.deepEqual(hosts, [{ host: "localhost", port: 5432 }]);
  assert.deepEqual([user, password, database, schema], [undefined, undefined, undefined, "lazuli"]);
});

test("a Unix socket is named by its folder, and by the port of the URL", () => {
  const { hosts } = readAddress("postgres://me@:5433/data?host=/run/postgresql");
  assert.deepEqual(hosts, [{ host: "/run/postgresql", port: 5433 }]);
});

test("messages show the URL without its password", () => {
  assert.equal(readAddress("postgres://me:me@host/me").shown, "postgres://me:***@host/me");
  assert.equal(readAddress("postgres://me@host/me").shown, "postgres://me@host/me");
});

test("sslmode chooses what of the server's certificate is verified", () => {
  const read = ((path: string) => `content of ${path}`) as unknown as Parameters<
    typeof readAddress
  >[1];
  const tls = (query: string) => readAddress(`postgres://host/data?${query}`, read).ssl;
  assert.deepEqual(tls("sslmode=disable"), false);
  assert.deepEqual(tls("sslmode=require"), { rejectUnauthorized: false });
  const full = tls("sslmode=verify-full&sslrootcert=/ca&sslcert=/cert&sslkey=/key");
  assert.deepEqual(full, {
    ca: "content of /ca",
    cert: "content of /cert",
    key: "content of /key",
    rejectUnauthorized: true,
  });
  const ca = tls("sslmode=verify-ca&sslrootcert=/ca");
  assert.ok(ca !== false && ca.rejectUnauthorized && ca.checkServerIdentity?.() === undefined);
});

test("a bad URL is refused with the reason, and never with its password", () => {
  const cases: [string, RegExp][] = [
    ["mysql://me:secret@host/data", /must look like/],
    ["postgres://me:secret@host:99999/data", /no host and port/],
    ["postgres://me:secret@[::1/data", /no host and port/],
    ["postgres://me:secret%@host/data", /%/],
    ["postgres://me:p@secret@host/data", /@ as %40/],
    ["postgres://me:p/secret@host/data", /@ as %40/],
    ["postgres://me:1234/secret@host/data", /@ as %40/],
    ["postgres://me:p?secret@host/data", /@ as %40/],
    ["postgres://me:p#secret@host/data", /@ as %40/],
    ["postgres://me:secret/data", /no host and port/],
    ["postgres://me:secret@host/data?sslmode=maybe", /not one of disable, require/],
    ["postgres://me:secret@host/data?ssl=true", /no parameter "ssl"/],
    ["postgres://me:secret@host/data?schema=Robert'); drop", /no plain name/],
    ["postgres://me:secret@host/data?sslmode=require&sslkey=/none/at/all", /cannot be read/],
  ];
  for (const [url, reason] of cases) {
    assert.throws(
      () => readAddress(url),
      ({ message }: Error) => reason.test(message) && !message.includes("secret"),
      url,
    );
  }
});
