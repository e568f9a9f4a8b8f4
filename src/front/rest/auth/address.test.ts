import assert from "node:assert/strict";
import { test } from "node:test";
import { endpointOf, locate } from "./address.ts";
import { ACCOUNT_NAME, ACCOUNTS, assertRefused, requestOf } from "./request.fixture.ts";

function found(host: string | undefined, path: string) {
  const { account, accountName, isSecondary, hostStyle, resourcePath } = locate(
    host,
    path,
    ACCOUNTS,
  );
  assert.equal(account?.name ?? null, account === null ? null : accountName);
  return [account?.name ?? null, isSecondary, hostStyle ? "host" : "path", resourcePath];
}

test("a host whose first label is an account names it", () => {
  for (const host of [
    `${ACCOUNT_NAME}.blob.localhost:10000`,
    `${ACCOUNT_NAME}.blob.core.windows.net`,
    `${ACCOUNT_NAME}.anything`,
    `${ACCOUNT_NAME}.blob.localhost.:10000`,
    "DevStoreAccount1.Blob.LocalHost",
  ]) {
    assert.deepEqual(found(host, "/c/b%20"), [ACCOUNT_NAME, false, "host", "/c/b%20"]);
    assert.deepEqual(found(host, "/"), [ACCOUNT_NAME, false, "host", "/"]);
  }
});

test("a configured domain names its account", () => {
  assert.deepEqual(found("files.example.org", "/c"), [ACCOUNT_NAME, false, "host", "/c"]);
  assert.deepEqual(found("Files.Example.Org.:8443", "/c"), [ACCOUNT_NAME, false, "host", "/c"]);
});

test("in path style only, a host never names an account", () => {
  const accounts = { ...ACCOUNTS, pathStyleOnly: true };
  for (const host of [`${ACCOUNT_NAME}.blob.localhost`, "files.example.org"]) {
    const { hostStyle, resourcePath } = locate(host, `/${ACCOUNT_NAME}/c`, accounts);
    assert.deepEqual([hostStyle, resourcePath], [false, "/c"]);
  }
});

test("the cloud's own host names begin with the account in any style", () => {
  const accounts = { ...ACCOUNTS, pathStyleOnly: true };
  const { accountName, hostStyle } = locate(
    `${ACCOUNT_NAME}.blob.core.windows.net`,
    "/c",
    accounts,
  );
  assert.deepEqual([accountName, hostStyle], [ACCOUNT_NAME, true]);
});

test("with any other host, the first path segment names the account", () => {
  for (const host of [
    undefined,
    "127.0.0.1:10000",
    "localhost:10000",
    "[::1]:10000",
    "[::ffff:10.0.0.1]",
    "lazuli.storage.svc.cluster.local",
    "other.blob.localhost",
    ACCOUNT_NAME,
    `x.${ACCOUNT_NAME}.localhost`,
    "",
  ]) {
    assert.deepEqual(found(host, `/${ACCOUNT_NAME}/c/b`), [ACCOUNT_NAME, false, "path", "/c/b"]);
    assert.deepEqual(found(host, `/${ACCOUNT_NAME}`), [ACCOUNT_NAME, false, "path", "/"]);
    assert.deepEqual(found(host, `/${ACCOUNT_NAME}/`), [ACCOUNT_NAME, false, "path", "/"]);
  }
});

test("-secondary is an alias of the account, in both styles", () => {
  const host = `${ACCOUNT_NAME}-secondary.blob.localhost`;
  assert.deepEqual(found(host, "/c"), [ACCOUNT_NAME, true, "host", "/c"]);
  const path = `/${ACCOUNT_NAME}-secondary/c`;
  assert.deepEqual(found("127.0.0.1", path), [ACCOUNT_NAME, true, "path", "/c"]);
});

test("an unknown account is not an address error", () => {
  assert.deepEqual(found("127.0.0.1", "/nosuch/c"), [null, false, "path", "/c"]);
  assert.deepEqual(found("127.0.0.1", "/__proto__/c"), [null, false, "path", "/c"]);
});

test("a path without an account, or an empty path, is refused", () => {
  for (const path of ["/", "//c", "", "*", "http://x/y", "devstoreaccount1/c"]) {
    assertRefused("InvalidUri", () => locate("127.0.0.1", path, ACCOUNTS), path);
  }
});

test("the endpoint is the account's URL as the client reached it", () => {
  const endpoint = (url: string) => {
    const request = requestOf({ url });
    return endpointOf(request, locate(request.headers.get("host"), request.path, ACCOUNTS));
  };
  const host = `${ACCOUNT_NAME}.blob.localhost:10000`;
  assert.equal(endpoint(`https://${host}/c/b?x=1`), `https://${host}/`);
  const path = `http://[::1]:10000/${ACCOUNT_NAME}`;
  assert.equal(endpoint(`${path}/c/b`), `${path}/`);
  assert.equal(endpoint(`${path}-secondary/c/b`), `${path}-secondary/`);
});
