import assert from "node:assert/strict";
import { test } from "node:test";
import { requireServerVersion } from "./schema.ts";

test("a server that is too old is refused, with the release that it takes", () => {
  assert.throws(() => requireServerVersion(130_014, "13.14"), /13\.14.*too old.*14 or later/);
  requireServerVersion(140_000, "14.0");
  requireServerVersion(170_002, "17.2");
});
