import { test } from "node:test";
import { assertReference } from "../base/reference.fixture.ts";
import type { Need } from "./access.ts";
import { BLOB_NEEDS } from "./blob-needs.ts";
import type { AclNeed } from "./posix-acl.ts";

test("docs/reference/access-control-lists.md shows what every operation needs of ACLs", () => {
  assertReference("access-control-lists.md", reference());
});

/** Rights of the directories above, of the parent, and of the path itself. */
const ROWS: Readonly<Record<AclNeed, readonly [above: string, parent: string, path: string]>> = {
  traverse: ["`--x`", "`--x`", "nothing"],
  read: ["`--x`", "`--x`", "`r--`"],
  write: ["`--x`", "`--x`", "`-w-`"],
  execute: ["`--x`", "`--x`", "`--x`"],
  append: ["`--x`", "`--x`", "`rw-`"],
  list: ["`--x`", "`--x`", "`r-x`"],
  create: ["`--x`", "`-wx`", "nothing"],
  delete: ["`--x`", "`-wx`", "nothing"],
  own: ["`--x`", "`--x`", "to own it"],
};

function reference(): string {
  const rows = (Object.keys(ROWS) as AclNeed[]).map((need) => {
    const operations = Object.entries(BLOB_NEEDS as Record<string, Need>)
      .filter(([, { acl }]) => acl === need)
      .map(([operation]) => operation);
    return `| ${need} | ${ROWS[need].join(" | ")} | ${operations.join(", ")} |\n`;
  });
  return `# Access control lists

Every file and directory of a container with a [hierarchical namespace](features.md) has an owner, an owning group and POSIX access control
lists (ACLs), the root directory included. They hold at both doors: what the Data Lake endpoint refuses, the Blob endpoint refuses, too.
Flat containers have none: there, operations on ACLs are 400 \`HierarchicalNamespaceNotEnabled\`.

## Callers that ACLs decide on

| caller | is checked against |
|---|---|
| a key of the account, an account SAS, a service SAS | nothing: a super-user, within what a SAS permits. A SAS for one path (\`sr=b\`) does not reach what lies below a directory |
| a bearer token in an account without [roles](roles.md) | nothing: a super-user, who owns what it creates |
| a bearer token whose role permits the operation | nothing. \`blob-owner\` permits all, also to change owners and ACLs: a super-user |
| any other bearer token | ACLs |
| an anonymous client of a container with public access | nothing: it reads what public access permits |
| a user delegation SAS | its letters; then its signer, like a bearer token, but without groups |
| with \`saoid\` | the same. The signer answers for that user, for whom only sticky bits count, and not even these with the letter \`o\` |
| with \`suoid\` | its letters, its signer's roles, and the ACLs for that user, without groups |

Roles come first, and ACLs only add to them: no ACL takes away what a role permits. A caller is known by \`oid\`, or by \`sub\` if the token
has no \`oid\`, and by all its \`groups\`. What a caller without an identity creates belongs to \`$superuser\`.

## How a list is read

The first line that applies decides:

1. The owner has the rights of \`user::\`.
2. A named user has the rights of its entry, as far as the mask has them.
3. Members of the owning group or of named groups have the rights of all these entries together, as far as the mask has them.
4. Everybody else has the rights of \`other::\`. The mask does not limit them.

## What each operation needs

| need | directories above | parent directory | the path itself | operations |
|---|---|---|---|---|
${rows.join("")}
* Directories that are missing on the way are created, which takes \`-wx\` of the innermost one that exists.
* A recursive list takes \`r-x\` of each directory that it enters. A recursive delete takes \`rwx\` of the directory and of each one below; files
  need nothing. If one is refused, nothing is deleted.
* A rename needs \`delete\` at the old path and \`create\` at the new one.
* In a directory with the sticky bit, only its owner and the owner of a path may delete, rename or replace that path.
* Owners change permissions and ACLs of what is theirs. Only super-users change the owner. Owners give a path to a group that they are a member of.
* Whatever is missing is 403 \`AuthorizationPermissionMismatch\`. A caller who may not pass a directory does not learn what is below it.

## Text

\`[default:]user|group|mask|other:id:rwx\`, with commas between entries. \`id\` is empty for the owner, the owning group, the mask and others.
Any text of visible ASCII characters without commas is an id; GUIDs are compared without case. Entries come in any order and are shown in one
order. A list has 32 entries at most, and a default ACL as many. Where \`user::\`, \`group::\` or \`other::\` is missing,
its rights stay as they are. A mask that is missing is the union of what it limits; a default ACL takes what it lacks from the access ACL.
Anything else is 400 \`InvaldAccessControlList\`, which is how the service writes this code.

\`x-ms-permissions\` is \`rwxr-x---\` or \`0750\`, with \`t\`, \`T\` or a leading \`1\` for the sticky bit. If a list has a mask, the group's letters show and
set the mask. A \`+\` behind the letters says that there are more entries. \`x-ms-umask\` has four octal digits. \`upn=true\` and \`x-ms-upn\` are accepted; there is
no directory with names, so ids are shown.

## New paths

* The root directory belongs to whoever created the container, and has \`rwxr-x---\`.
* A new path belongs to its creator, and to the group of its parent.
* If its parent has a default ACL, that is its ACL, limited by its permissions (\`0777\` for directories, \`0666\` for files, or \`x-ms-permissions\`);
  a directory passes it on.
* Otherwise it has its permissions less the umask, \`0027\` unless \`x-ms-umask\` says another.
* \`x-ms-acl\` replaces all that. A file that Create Path replaces is a new one. One that the Blob endpoint writes again retains its access
  control, and so does a directory that is created again.
* A rename takes owner and ACL along. Changing a default ACL changes no path that exists.

## Many paths at once

Set Access Control Recursive replaces (\`set\`), changes (\`modify\`) or removes (\`remove\`) entries of a path and of everything in it, 2,000 paths
in a request at most (\`maxRecords\`). Default entries change directories only. The mask is calculated again when an entry changes that it limits,
unless the request sets it. A path that cannot be changed is in \`failedEntries\`, and ends the request unless \`forceFlag\` is true. Paths
that were changed before stay changed. Leases do not matter.

## Asking first

Check Access (\`HEAD\`, \`action=checkAccess\`, \`fsAction=r-x\`) answers 200 if the caller has all of these rights on the path, by a role, a SAS or the ACLs, and 403
\`AuthorizationPermissionMismatch\` if not. A super-user has all.

## Sources

| what | source |
|---|---|
| a list without \`user::\`, \`group::\` or \`other::\` is accepted, and what it lacks stays | the example of Set-AzDataLakeGen2ItemAclObject in the reference of PowerShell: a list without \`user::\` leaves \`rwx\` to the owner; tests of the JavaScript SDK send such lists |
| \`x-ms-acl\` of Get Blob and Get Blob Properties, and \`x-ms-upn\`, since 2023-11-03 | the page of that version |
| \`x-ms-owner\`, \`x-ms-group\`, \`x-ms-acl\`, \`x-ms-permissions\` and \`x-ms-umask\` of Create Path | SDKs send them since 2021-08-06. No page says since when the service takes them: here every version does |
| Check Access | the page of Path Get Properties |
`;
}
