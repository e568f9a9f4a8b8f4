import assert from "node:assert/strict";
import { test } from "node:test";
import { platformNote } from "./platform-note.ts";

test("a platform on which no test has run is named in one line, and Linux is not", () => {
  assert.equal(platformNote("linux"), null);
  for (const platform of ["win32", "darwin", "freebsd"] as const) {
    const note = platformNote(platform) ?? "";
    assert.match(note, new RegExp(`never tested on ${platform}: .*platforms\\.md`));
    assert.doesNotMatch(note, /\n/);
  }
});
