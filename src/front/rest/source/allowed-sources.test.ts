import assert from "node:assert/strict";
import { test } from "node:test";
import { SourceGuard } from "./allowed-sources.ts";

function permits(origins: string[], url: string): boolean {
  return new SourceGuard({ origins, networks: [] }).permits(new URL(url));
}

test("an origin matches by scheme, host and port", () => {
  const origins = ["https://files.example.org", "http://10.1.2.3:8080/"];
  assert.ok(permits(origins, "https://files.example.org/a/b?c"));
  assert.ok(permits(origins, "https://FILES.example.org:443"));
  assert.ok(permits(origins, "http://10.1.2.3:8080/"));
  for (const url of [
    "http://files.example.org",
    "https://files.example.org:444",
    "https://example.org",
    "https://x.files.example.org",
    "https://files.example.org.evil.example",
    "http://10.1.2.3",
  ]) {
    assert.equal(permits(origins, url), false, url);
  }
  assert.equal(permits([], "https://files.example.org"), false);
});

test("a wildcard matches one or more labels in front of a name", () => {
  const origins = ["https://*.example.org"];
  assert.ok(permits(origins, "https://a.example.org"));
  assert.ok(permits(origins, "https://a.b.example.org/x"));
  for (const url of ["https://example.org", "https://aexample.org", "http://a.example.org"]) {
    assert.equal(permits(origins, url), false, url);
  }
});

test("only exact origins count as listed, not wildcards", () => {
  const guard = new SourceGuard({
    origins: ["https://*.example.org", "https://a.example.org"],
    networks: [],
  });
  assert.equal(guard.lists(new URL("https://a.example.org")), true);
  assert.equal(guard.lists(new URL("https://b.example.org")), false);
  assert.equal(guard.lists(new URL("http://a.example.org")), false);
});

test("an address matches in all its notations", () => {
  assert.ok(permits(["http://127.0.0.1:8080"], "http://2130706433:8080"));
  assert.equal(permits(["http://10.0.0.1"], "http://[::ffff:10.0.0.1]"), false);
});

test("names may resolve to public addresses and to listed networks", () => {
  const guard = new SourceGuard({ origins: [], networks: ["10.1.0.0/16", "fd00::/8"] });
  for (const address of ["8.8.8.8", "2606:4700::1111", "10.1.2.3", "fd00::1", "::ffff:10.1.0.1"]) {
    assert.ok(guard.permitsAddress(address), address);
  }
  for (const address of [
    ...["127.0.0.1", "10.2.0.1", "169.254.169.254", "192.168.1.1", "172.16.0.1", "0.0.0.0"],
    ...["100.64.0.1", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fc00::1"],
    ...["::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "64:ff9b::7f00:1", "ff02::1"],
  ]) {
    assert.equal(guard.permitsAddress(address), false, address);
  }
});

test("a token is sent over https only, except to this machine", () => {
  const guard = new SourceGuard({ origins: [], networks: [] });
  for (const origin of [
    "https://a.example",
    "http://127.0.0.1:1",
    "http://[::1]",
    "http://localhost",
  ]) {
    assert.ok(guard.permitsToken(new URL(origin)), origin);
  }
  for (const origin of ["http://a.example", "http://10.0.0.1", "http://localhost.example"]) {
    assert.equal(guard.permitsToken(new URL(origin)), false, origin);
  }
});

test("invalid settings are refused with an example", () => {
  for (const origin of [
    "example.org",
    "https://*.10.0.0.1",
    "https://a/b",
    "ftp://a",
    "https://u@a",
  ]) {
    assert.throws(() => new SourceGuard({ origins: [origin], networks: [] }), /Write it like/);
  }
  for (const network of ["10.0.0.1", "10.0.0.0/33", "a/8", "::/129"]) {
    assert.throws(() => new SourceGuard({ origins: [], networks: [network] }), /Write it like/);
  }
});
