import assert from "node:assert/strict";
import { test } from "node:test";
import { withOverrides } from "./content-properties.ts";

test("a SAS replaces the headers it names and no others", () => {
  const headers = ["ETag", '"0x1"', "Content-Type", "text/plain", "Cache-Control", "no-cache"];
  const overrides = ["content-type", "image/png", "Content-Language", "de"];
  assert.deepEqual(withOverrides(headers, overrides), [
    "ETag",
    '"0x1"',
    "Cache-Control",
    "no-cache",
    "content-type",
    "image/png",
    "Content-Language",
    "de",
  ]);
  assert.equal(withOverrides(headers, []), headers);
});
