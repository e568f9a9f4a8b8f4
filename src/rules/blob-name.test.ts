import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeBlobName } from "./blob-name.ts";

test("a blob name has 1 to 1,024 characters", () => {
  assert.equal(judgeBlobName(""), "InvalidUri");
  assert.equal(judgeBlobName("x"), null);
  assert.equal(judgeBlobName("ü".repeat(1_024)), null);
  assert.equal(judgeBlobName("ü".repeat(1_025)), "InvalidUri");
});

test("a blob name has up to 254 segments", () => {
  assert.equal(judgeBlobName(`${"a/".repeat(253)}a`), null);
  assert.equal(judgeBlobName(`${"a/".repeat(254)}a`), "InvalidUri");
});

test("control characters are refused", () => {
  for (const unit of [0x00, 0x0a, 0x1f, 0x7f, 0x80, 0x9f]) {
    assert.equal(judgeBlobName(`a${String.fromCharCode(unit)}b`), "InvalidResourceName");
  }
});

test("all other names are stored as they are sent", () => {
  for (const name of [
    "a//b",
    "a/",
    "/",
    ".",
    "../x",
    "a\\b",
    "a b",
    "ünï/çø∂é",
    "😀",
    "%41",
    "\uffff",
  ]) {
    assert.equal(judgeBlobName(name), null, name);
  }
});
