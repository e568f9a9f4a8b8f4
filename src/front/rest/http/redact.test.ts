import assert from "node:assert/strict";
import { test } from "node:test";
import { loggedTarget, redactHeader, redactHeaders, redactSignatures } from "./redact.ts";

test("the signature of a SAS is removed from a URL in any case and encoding; the rest stays", () => {
  for (const name of ["sig", "SIG", "s%69g", "%53ig"]) {
    const target = `/a/c/b?sv=2020&${name}=S%2BECRET%3D&se=2030`;
    assert.equal(redactSignatures(target), `/a/c/b?sv=2020&${name}=[redacted]&se=2030`);
  }
  assert.equal(redactSignatures("/a?sig=S&sig=T"), "/a?sig=[redacted]&sig=[redacted]");
  // Clients that encode a whole URL encode its signature with it.
  for (const mark of ["%3Fsv=1&sig=", "%3fsv%3D1%26s%69g%3d", "?url=x%253Fsig%253D"]) {
    assert.equal(redactSignatures(`/a/b${mark}SECRET%2B`), `/a/b${mark}[redacted]`);
  }
  for (const plain of ["/a/sig=1", "/a?comp=list", "/a?signature=1", "/a?%zz=1", "/a?sig", "*"]) {
    assert.equal(redactSignatures(plain), plain);
  }
});

test("a logged target has no signature, whether its query is encoded or not", () => {
  assert.equal(loggedTarget("/a/c?sig=S"), "/a/c?sig=[redacted]");
  assert.equal(loggedTarget("/a/c%3Fsig=S"), "/a/c%3Fsig=[redacted]");
});

test("a logged target has nothing in it that could end a quoted text or a line", () => {
  assert.equal(loggedTarget('/a/c"d\\e?x=1&sig=S'), "/a/c%22d%5Ce?x=1&sig=[redacted]");
  assert.equal(loggedTarget("/a\u00e9\u001b\u007f\u2028 b"), "/a%E9%1B%7F%E2%80%A8%20b");
  assert.equal(
    loggedTarget("/a/b%20c(1)'~!*;:@,$+=[]{}|^`<>#"),
    "/a/b%20c(1)'~!*;:@,$+=[]{}|^`<>#",
  );
});

test("credentials, keys and signatures are removed from headers; other headers stay", () => {
  const cases: [string, string, string][] = [
    ["Authorization", "SharedKey acct:SECRET=", "SharedKey acct:[redacted]"],
    ["authorization", "SharedKeyLite acct:SECRET=", "SharedKeyLite acct:[redacted]"],
    ["Authorization", "Bearer SECRET", "Bearer [redacted]"],
    ["Authorization", "SharedKey SECRET", "[redacted]"],
    ["Authorization", "SECRET", "[redacted]"],
    ["x-ms-copy-source-authorization", "Bearer SECRET", "Bearer [redacted]"],
    ["x-ms-copy-source", "https://x/y?a=1&sig=SECRET", "https://x/y?[redacted]"],
    ["x-ms-copy-source", "https://x/y", "https://x/y"],
    ["X-Ms-Rename-Source", "/c/d?sig=SECRET", "/c/d?[redacted]"],
    ["Referer", "https://x/?sig=SECRET", "https://x/?[redacted]"],
    ["x-ms-encryption-key", "SECRET", "[redacted]"],
    ["x-ms-source-encryption-key", "SECRET", "[redacted]"],
    ["x-ms-encryption-key-sha256", "abc=", "abc="],
    ["x-ms-meta-a", "plain", "plain"],
    ["X-Original-URL", "/a?sv=1&SIG=SECRET&se=2", "/a?sv=1&SIG=[redacted]&se=2"],
    ["X-Original-URL", "/a%3Fsig%3DSECRET", "/a%3Fsig%3D[redacted]"],
    ["x-ms-copy-source", "https://x/y%3Fsig=SECRET", "https://x/y%3Fsig=[redacted]"],
    ["Proxy-Authorization", "Basic SECRET", "[redacted]"],
    ["Cookie", "a=SECRET", "[redacted]"],
    ["X-Api-Key", "SECRET", "[redacted]"],
    ["x-ms-access-token", "SECRET", "[redacted]"],
    ["If-Match", "*", "*"],
  ];
  for (const [name, value, shown] of cases) assert.equal(redactHeader(name, value), shown, name);
  const raw = cases.flatMap(([name, value]) => [name.toUpperCase(), value]);
  assert.doesNotMatch(redactHeaders(raw), /SECRET/);
});
