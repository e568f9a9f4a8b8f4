import assert from "node:assert/strict";
import { test } from "node:test";
import { accountsOf } from "../auth/account.ts";
import { OwnEndpoints, type Reached } from "./own-endpoints.ts";

const KEY = Buffer.from("key").toString("base64");
const accounts = accountsOf([
  { name: "shop", keys: [KEY], domains: ["files.shop.example"] },
  { name: "home", keys: [KEY] },
]);
const endpoints = new OwnEndpoints(accounts);
endpoints.add("blob", "http://10.0.0.7:10000");
endpoints.add("file", "http://10.0.0.7:10003");

function named(authority: string, host: string, secure = false): string | null {
  const reached: Reached = { service: "blob", host };
  return endpoints.serviceAt(authority, secure, reached);
}

test("the ports that the server listens on identify its services, under any local name", () => {
  for (const host of ["10.0.0.7", "127.0.0.1", "localhost", "LOCALHOST", "[::1]", "x.localhost"]) {
    assert.equal(named(`${host}:10000`, "127.0.0.1:10000"), "blob", host);
    assert.equal(named(`${host}:10003`, "127.0.0.1:10000"), "file", host);
    assert.equal(named(`${host}:10009`, "127.0.0.1:10000"), null, host);
  }
});

test("the name by which the client reached the server is one of its own", () => {
  assert.equal(named("lazuli:8080", "lazuli:8080"), "blob");
  assert.equal(named("lazuli", "lazuli"), "blob");
  assert.equal(named("lazuli:8081", "lazuli:8080"), null);
  assert.equal(named("elsewhere:8080", "lazuli:8080"), null);
  assert.equal(named("lazuli", "lazuli:443", true), "blob");
});

test("accounts under one parent domain belong together, and a host may name its service", () => {
  const near = "shop.blob.core.example";
  assert.equal(named("home.blob.core.example", near), "blob");
  assert.equal(named("home.file.core.example", near), "file");
  assert.equal(named("home-secondary.blob.core.example", near), "blob");
  assert.equal(named("stranger.blob.core.example", near), null);
  assert.equal(named("home.blob.core.other", near), null);
  assert.equal(named("files.shop.example:10000", "127.0.0.1:10000"), "blob");
});

test("an account's domain is local behind a proxy, too, as the service that was reached", () => {
  assert.equal(named("files.shop.example", "127.0.0.1:10000"), "blob");
  assert.equal(named("files.shop.example", "127.0.0.1:10000", true), "blob");
  assert.equal(named("files.shop.example:8443", "127.0.0.1:10000"), null);
});

test("an account's cloud host name is local at the default ports", () => {
  const cloud = (authority: string, secure = true) => endpoints.cloudServiceAt(authority, secure);
  for (const service of ["blob", "file", "queue", "table", "dfs"]) {
    assert.equal(cloud(`shop.${service}.core.windows.net`), service);
  }
  assert.equal(cloud("SHOP.blob.core.windows.net."), "blob");
  assert.equal(cloud("shop.blob.core.windows.net:443"), "blob");
  assert.equal(cloud("shop.blob.core.windows.net", false), "blob");
  assert.equal(cloud("home-secondary.file.core.windows.net"), "file");
  for (const other of [
    "stranger.blob.core.windows.net",
    "shop-secondary-secondary.blob.core.windows.net",
    "shop.blob.core.windows.net:8443",
    "shop.blob.core.windows.net.example",
    "shop.blob.core.windows.example",
    "x.shop.blob.core.windows.net",
    "shop.web.core.windows.net",
    "shop.core.windows.net",
    "blob.core.windows.net",
    "shop.example",
  ]) {
    assert.equal(cloud(other), null, other);
  }
});

test("another host with the same port is not local", () => {
  assert.equal(named("10.0.0.8:10000", "10.0.0.7:10000"), null);
  assert.equal(named("shop.blob.core.windows.net", "127.0.0.1:10000"), null);
});
