import { test } from "node:test";
import { assertReference } from "../base/reference.fixture.ts";
import type { Need } from "./access.ts";
import { BLOB_NEEDS } from "./blob-needs.ts";
import { FILE_NEEDS } from "./file-needs.ts";
import { QUEUE_NEEDS } from "./queue-needs.ts";
import { TABLE_NEEDS } from "./table-needs.ts";

const SERVICES: Readonly<Record<string, Readonly<Record<string, Need>>>> = {
  Blob: BLOB_NEEDS,
  Queue: QUEUE_NEEDS,
  Table: TABLE_NEEDS,
  File: FILE_NEEDS,
};

test("docs/reference/permissions.md shows what every operation needs", () => {
  assertReference("permissions.md", reference());
});

const PUBLIC = {
  never: "no",
  blob: "blob or container",
  container: "container",
} as const;

function reference(): string {
  return `# Permissions

Who has a key of the account, or a bearer token that the server takes, may do everything. This is
what others need: the resource type and a letter in an account SAS, a letter in a service SAS or in
a user delegation SAS, or the level of public access of the container. Who has \`c\` but not \`w\` may
create a blob, also of blocks, but not replace one. Who sets tags with an upload, asks for them in a list, or makes them
a condition needs \`t\` as well. Each operation in a batch brings what it needs itself.

A SAS that comes with a key or a token counts, too: both must be valid, and no more is permitted than the SAS says.
A SAS for one user (\`sduoid\`) is good with that user's token alone. A rename with a SAS has one in the URL of its source, too.

The service takes \`c\` for blocks in version 2026-04-06 and later; here every version does.
${Object.entries(SERVICES)
  .map(([title, needs]) => section(title, needs))
  .join("")}`;
}

function section(title: string, needs: Readonly<Record<string, Need>>): string {
  const hasPublic = Object.values(needs).some(({ anonymous }) => anonymous !== "never");
  const lines = Object.entries(needs).map(([operation, need]) => {
    const account =
      need.account === "" ? "no" : `${[...need.on].join(" or ")}: ${letters(need.account, need)}`;
    const service = need.service === "" ? "no" : letters(need.service, need);
    const level = hasPublic ? ` ${PUBLIC[need.anonymous]} |` : "";
    return `| ${operation} | ${account} | ${service} |${level}\n`;
  });
  return `
## ${title} service

| operation | account SAS | service SAS |${hasPublic ? " public access |" : ""}
|---|---|---|${hasPublic ? "---|" : ""}
${lines.join("")}`;
}

function letters(all: string, { every = false }: Need): string {
  return [...all].join(every ? " and " : " or ");
}
