import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { BLOB_FIELDS } from "../../src/front/rest/blob/field-versions.ts";
import type { FieldsSince } from "../../src/front/rest/field-versions.ts";
import { FILE_FIELDS } from "../../src/front/rest/file/field-versions.ts";
import { QUEUE_FIELDS } from "../../src/front/rest/queue/field-versions.ts";
import { TABLE_FIELDS } from "../../src/front/rest/table/field-versions.ts";

const PAGE = "docs/reference/versions.md";
const TABLES: Readonly<Record<string, readonly FieldsSince<string>[]>> = {
  Blob: BLOB_FIELDS,
  File: FILE_FIELDS,
  Queue: QUEUE_FIELDS,
  Table: TABLE_FIELDS,
};
const page = readFileSync(PAGE, "utf8");

for (const [service, rows] of Object.entries(TABLES)) {
  test(`${PAGE} has the same table of ${service} as the code, with sources`, () => {
    const section = page.split(/^## /m).find((text) => text.startsWith(`${service}\n`)) ?? "";
    const found = section.split("\n").filter((line) => line.startsWith("| `"));
    const documented = found.map((line) => {
      const [fields, operations, since, source] = line.slice(2, -2).split(" | ");
      assert.ok(source !== undefined && source.trim() !== "", `a source: ${line}`);
      return `${fields} | ${operations} | ${since}`;
    });
    assert.deepEqual(documented, rows.map(lineOf));
  });
}

function lineOf({ since, of, headers = [], elements = [] }: FieldsSince<string>): string {
  const fields = [...headers, ...elements].map((field) => `\`${field}\``).join(", ");
  const operations = of === "all" ? "all" : of.map(titleOf).join(", ");
  return `${fields} | ${operations} | ${since}`;
}

/** `getBlobProperties` is Get Blob Properties. */
function titleOf(operation: string): string {
  const words = operation.replace(/[A-Z]/g, (letter) => ` ${letter}`).replace("Url", "URL");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
