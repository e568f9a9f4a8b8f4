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

A key of the account permits everything. So does a valid bearer token, unless the account has [roles](roles.md). The tables show what
other clients need: the resource type and a letter in an account SAS, a letter in a service SAS or a user delegation SAS, one of the
actions in a role, or the public access level of the container. In a container with directories, tokens that no role permits an
operation are judged by ACLs; the column names the [need](access-control-lists.md).

* \`c\` without \`w\` permits to create a blob, also from blocks, but not to replace one.
* Setting tags with an upload, listing tags, and conditions on tags need \`t\` as well.
* Each operation in a batch needs its own permission.
* If a SAS comes with a key or a token, both must be valid, and the request may do only what the SAS permits.
* A SAS for one user (\`sduoid\`) is valid only with that user's token.
* In an account with roles, a user delegation SAS permits no more than the roles of the user who requested its key.
* A rename with a SAS also needs a SAS in the URL of its source.

The service accepts \`c\` for blocks since version 2026-04-06. This server does in every version.
${Object.entries(SERVICES)
  .map(([title, needs]) => section(title, needs))
  .join("")}`;
}

function section(title: string, needs: Readonly<Record<string, Need>>): string {
  const hasAcls = Object.values(needs).some(({ acl }) => acl !== undefined);
  const hasPublic = Object.values(needs).some(({ anonymous }) => anonymous !== "never");
  const lines = Object.entries(needs).map(([operation, need]) => {
    const account =
      need.account === "" ? "no" : `${[...need.on].join(" or ")}: ${letters(need.account, need)}`;
    const service = need.service === "" ? "no" : letters(need.service, need);
    const level = hasPublic ? ` ${PUBLIC[need.anonymous]} |` : "";
    const actions = need.actions.map((action) => `\`${action}\``).join(" or ");
    const byAcl = hasAcls ? ` ${need.acl ?? "no"} |` : "";
    return `| ${operation} | ${account} | ${service} | ${actions} |${byAcl}${level}\n`;
  });
  return `
## ${title} service

| operation | account SAS | service SAS | action of a role |${hasAcls ? " ACL |" : ""}${hasPublic ? " public access |" : ""}
|---|---|---|---|${hasAcls ? "---|" : ""}${hasPublic ? "---|" : ""}
${lines.join("")}`;
}

function letters(all: string, { every = false }: Need): string {
  return [...all].join(every ? " and " : " or ");
}
