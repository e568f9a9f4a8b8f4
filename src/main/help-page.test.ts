import assert from "node:assert/strict";
import { test } from "node:test";
import { FLAGS } from "./flags.ts";
import { helpPage } from "./help-page.ts";

test("the help page shows every flag, and fits a terminal of 100 columns", () => {
  const lines = helpPage().split("\n");
  for (const { name } of FLAGS) {
    assert.ok(
      lines.some((line) => new RegExp(`^ .*--${name}( |$)`).test(line)),
      name,
    );
  }
  for (const line of lines) assert.ok(line.length <= 100, line);
});
