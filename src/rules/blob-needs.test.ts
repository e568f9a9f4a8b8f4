import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Need } from "./access.ts";
import { BLOB_NEEDS } from "./blob-needs.ts";

/** This file runs from `dist`. */
const REFERENCE = fileURLToPath(new URL("../../../docs/reference/permissions.md", import.meta.url));

test("docs/reference/permissions.md shows what every operation needs", () => {
  const expected = reference();
  if (process.env.LAZULI_WRITE_REFERENCE !== undefined) writeFileSync(REFERENCE, expected);
  assert.equal(
    readFileSync(REFERENCE, "utf8"),
    expected,
    "The reference is out of date. Write it anew: LAZULI_WRITE_REFERENCE=1 npm test",
  );
});

const PUBLIC = {
  never: "no",
  blob: "blob or container",
  container: "container",
} as const;

function reference(): string {
  const needs: Readonly<Record<string, Need>> = BLOB_NEEDS;
  const lines = Object.entries(needs).map(([operation, need]) => {
    const account = need.account === "" ? "no" : `${need.on}: ${letters(need.account, need)}`;
    const service = need.service === "" ? "no" : letters(need.service, need);
    return `| ${operation} | ${account} | ${service} | ${PUBLIC[need.anonymous]} |`;
  });
  return `# Permissions

Who has a key of the account, or a bearer token that the server takes, may do everything. This is
what others need: the resource type and a letter in an account SAS, a letter in a service SAS or in
a user delegation SAS, or the level of public access of the container. Who has \`c\` but not \`w\` may
create a blob, but not replace one.

## Blob service

| operation | account SAS | service SAS | public access |
|---|---|---|---|
${lines.join("\n")}
`;
}

function letters(all: string, { every = false }: Need): string {
  return [...all].join(every ? " and " : " or ");
}
