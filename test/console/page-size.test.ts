import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const GZIPPED_BYTES_MAX = 400 * 1024;

test("the built page is small, and takes nothing from other places", () => {
  const folder = new URL("../../bundle/console/", import.meta.url);
  const files = readdirSync(folder).map((name) => readFileSync(new URL(name, folder)));
  const bytes = files.reduce((sum, file) => sum + gzipSync(file).length, 0);
  assert.ok(files.length >= 4 && bytes < GZIPPED_BYTES_MAX, `${bytes} bytes gzipped`);
  const page = readFileSync(new URL("index.html", folder), "utf8");
  for (const [, source = ""] of page.matchAll(/(?:src|href)="([^"]*)"/g)) {
    assert.doesNotMatch(source, /^(https?:)?\/\//, source);
  }
  assert.doesNotMatch(page, /<script(?![^>]*\bsrc=)/);
});
