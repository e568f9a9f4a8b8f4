import assert from "node:assert/strict";
import { test } from "node:test";
import { assertReference } from "../../../base/reference.fixture.ts";
import { TABLE_HANDLERS } from "./handlers.ts";
import { TABLE_ROUTES } from "./route.ts";

const PATHS = {
  account: "/",
  tables: "/Tables",
  namedTable: "/Tables('name')",
  batch: "/$batch",
  table: "/name",
  entity: "/name(PartitionKey='p',RowKey='r')",
} as const;

const UPSERTS = [
  ["insertOrReplaceEntity", "PUT", "without `If-Match`"],
  ["insertOrMergeEntity", "MERGE or PATCH", "without `If-Match`"],
] as const;

test("docs/reference/table-operations.md lists every operation with its request", () => {
  assertReference("table-operations.md", reference());
});

test("every operation with a handler is listed", () => {
  const text = reference();
  for (const operation of Object.keys(TABLE_HANDLERS)) assert.ok(text.includes(`| ${operation} |`));
});

function reference(): string {
  const rows = Object.entries(TABLE_ROUTES).flatMap(([level, routes]) =>
    Object.entries(routes).map(([route, operation]) => {
      const [method, comp, restype] = route.split(" ");
      const query = [comp && `\`comp=${comp}\``, restype && `\`restype=${restype}\``];
      const path = `\`${PATHS[level as keyof typeof PATHS]}\``;
      const words = [method, path, ...query.filter((word) => word !== undefined)];
      return `| ${operation} | ${words.join(" ")} |`;
    }),
  );
  const upserts = UPSERTS.map(
    ([operation, method, how]) => `| ${operation} | ${method} \`${PATHS.entity}\` ${how} |`,
  );
  return `# Operations of the Table service

All operations are supported, in JSON with \`odata=nometadata\`, \`minimalmetadata\` or \`fullmetadata\`.
A POST with \`X-HTTP-Method\` stands for MERGE, PATCH, PUT or DELETE. Update, merge and delete need
\`If-Match\`: an ETag, or \`*\` for any version.

Atom is refused with 415 \`AtomFormatNotSupported\`. The legacy \`azure-storage\` package works, because it
sends and reads JSON, and accepts Atom only for answers that are plain XML (properties, policies) or
empty (deletes).

| operation | request |
|---|---|
${[...rows, ...upserts].join("\n")}

## Filters

\`$filter\` takes \`eq\`, \`ne\`, \`gt\`, \`ge\`, \`lt\`, \`le\`, \`and\`, \`or\`, \`not\` and parentheses, with the
constant on either side: \`'text'\`, \`5\`, \`5L\`, \`1.5\`, \`true\`, \`datetime'…'\`, \`guid'…'\`,
\`X'0aff'\` or \`binary'0aff'\`. A filter has up to 250 comparisons and is nested up to 32 deep.
Numbers of all types compare by value. A comparison of other types with each other is false, and so is one
with a missing property, whatever the operator. Functions and arithmetic are refused with
501 \`NotImplemented\`, and so are \`$orderby\`, \`$skip\` and \`$count\`.

A page ends after 1,000 results, after 5 seconds, or with the entity that brings it to 4 MiB; the
continuation headers say where the next page begins. Comparisons of PartitionKey and RowKey, also those joined by
\`or\`, use the index; all others are evaluated entity by entity.

## Limits of our own

PartitionKey and RowKey have up to 1,024 characters each, and up to 3,189 bytes together, where a
character takes 1 to 3 bytes.
`;
}
