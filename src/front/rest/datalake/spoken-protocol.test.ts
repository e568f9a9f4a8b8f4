import assert from "node:assert/strict";
import { test } from "node:test";
import { parseQuery } from "../http/query.ts";
import { isDataLakeHost, spokenProtocol } from "./spoken-protocol.ts";

function spoken(line: string, headers: Record<string, string> = {}): string {
  const [method = "", query = ""] = line.split(" ");
  const asked = {
    method,
    query: parseQuery(query),
    headers: { get: (name: string) => headers[name], raw: Object.entries(headers).flat() },
  };
  return `${spokenProtocol(asked, false)} ${spokenProtocol(asked, true)}`;
}

test("requests that only one protocol has are answered in it at either endpoint", () => {
  for (const line of [
    "PUT resource=filesystem",
    "PUT resource=file",
    "GET resource=account",
    "HEAD action=getStatus",
    "PATCH action=append",
    "PATCH",
    "POST",
  ]) {
    assert.equal(spoken(line), "dfs dfs", line);
  }
  assert.equal(spoken("PUT", { "x-ms-rename-source": "/a/b" }), "dfs dfs");
  for (const line of ["GET comp=list", "PUT restype=container", "PUT comp=lease", "OPTIONS"]) {
    assert.equal(spoken(line), "blob blob", line);
  }
});

test("requests that both have follow the endpoint, unless a client shows that it is another's", () => {
  for (const method of ["GET", "HEAD", "PUT", "DELETE"]) {
    assert.equal(spoken(method), "blob dfs", method);
    assert.equal(spoken(method, { accept: "application/json" }), "blob dfs", method);
  }
  for (const method of ["GET", "HEAD", "DELETE"]) {
    assert.equal(spoken(method, { accept: "application/xml" }), "blob blob", method);
    assert.equal(spoken(`${method} snapshot=x`), "blob blob", method);
  }
  assert.equal(spoken("PUT", { "x-ms-blob-type": "BlockBlob" }), "blob blob");
  assert.equal(spoken("PUT", { "x-ms-copy-source": "http://a/b" }), "blob blob");
  assert.equal(spoken("DELETE", { "x-ms-delete-snapshots": "include" }), "blob blob");
});

test("a host name of the endpoint has its label behind the account", () => {
  for (const host of ["a.dfs.localhost:10000", "A.DFS.core.windows.net"]) {
    assert.equal(isDataLakeHost(host), true, host);
  }
  for (const host of [undefined, "", "localhost", "a.blob.dfs.x", "dfs.localhost", "127.0.0.1"]) {
    assert.equal(isDataLakeHost(host), false, host);
  }
});
