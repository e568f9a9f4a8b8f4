import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../../base/fault.ts";
import { parseSourceUrl, publicUrl } from "./source-url.ts";

test("a URL is split without normalization: a name with dots is a name", () => {
  assert.deepEqual(parseSourceUrl("http://Host:1/a/../b%2F/./c?snapshot=x&sig=a%2Fb"), {
    secure: false,
    authority: "Host:1",
    path: "/a/../b%2F/./c",
    query: "snapshot=x&sig=a%2Fb",
  });
  assert.deepEqual(parseSourceUrl("HTTPS://[::1]"), {
    secure: true,
    authority: "[::1]",
    path: "/",
    query: "",
  });
});

test("the public URL leaves out the credentials", () => {
  const url = parseSourceUrl("https://a.b/c/d?sv=1&Snapshot=2020&sig=secret&versionid=7");
  assert.equal(publicUrl(url), "https://a.b/c/d?Snapshot=2020&versionid=7");
  assert.equal(publicUrl(parseSourceUrl("https://a.b/c?sig=secret")), "https://a.b/c");
});

test("a URL that is not absolute is refused without repeating its secrets", () => {
  for (const text of [
    "",
    "/a/b",
    "ftp://a/b",
    "http://",
    "http://u:p@a/b",
    "http://a/b#c",
    "http://a b",
  ]) {
    assert.throws(() => parseSourceUrl(text), Fault, text);
  }
  assert.throws(
    () => parseSourceUrl("ftp://a/b?sig=secret"),
    (error: Fault) => !JSON.stringify(error.detail).includes("secret"),
  );
});
