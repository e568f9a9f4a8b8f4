import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Asserts that a page of `docs/reference` matches the code, or writes it if asked to. */
export function assertReference(page: string, expected: string): void {
  // This file runs from `dist`.
  const file = fileURLToPath(new URL(`../../../docs/reference/${page}`, import.meta.url));
  if (process.env.LAZULI_WRITE_REFERENCE !== undefined) writeFileSync(file, expected);
  assert.equal(
    readFileSync(file, "utf8"),
    expected,
    "The reference is out of date. Write it anew: LAZULI_WRITE_REFERENCE=1 npm test",
  );
}
