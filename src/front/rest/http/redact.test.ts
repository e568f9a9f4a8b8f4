import assert from "node:assert/strict";
import { test } from "node:test";
import { redactHeader, redactHeaders, redactTarget } from "./redact.ts";

test("the signature of a SAS is removed from a URL in any case and encoding; the rest stays", () => {
  for (const name of ["sig", "SIG", "s%69g", "%53ig"]) {
    const target = `/a/c/b?sv=2020&${name}=S%2BECRET%3D&se=2030`;
    assert.equal(redactTarget(target), `/a/c/b?sv=2020&${name}=[redacted]&se=2030`);
  }
  assert.equal(redactTarget("/a?sig=S&sig=T"), "/a?sig=[redacted]&sig=[redacted]");
  for (const plain of ["/a/sig=1", "/a?comp=list", "/a?signature=1", "/a?%zz=1", "/a?sig", "*"]) {
    assert.equal(redactTarget(plain), plain);
  }
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
  ];
  for (const [name, value, shown] of cases) assert.equal(redactHeader(name, value), shown, name);
  const raw = cases.flatMap(([name, value]) => [name.toUpperCase(), value]);
  assert.doesNotMatch(redactHeaders(raw), /SECRET/);
});
