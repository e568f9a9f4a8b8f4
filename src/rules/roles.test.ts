import assert from "node:assert/strict";
import { test } from "node:test";
import { assertReference } from "../base/reference.fixture.ts";
import { judgeByAccess, judgeOverwrite, type Need, type TokenAccess } from "./access.ts";
import { BLOB_NEEDS } from "./blob-needs.ts";
import { FILE_NEEDS } from "./file-needs.ts";
import { QUEUE_NEEDS } from "./queue-needs.ts";
import {
  type CallerClaims,
  fitsContainer,
  judgeByRoles,
  PRINCIPAL_CLAIMS,
  type Principal,
  ROLES,
  type Role,
  type RoleAssignment,
  type RoleName,
  type RoleService,
} from "./roles.ts";
import { TABLE_NEEDS } from "./table-needs.ts";

const NEEDS: Readonly<Record<RoleService, Readonly<Record<string, Need>>>> = {
  blob: BLOB_NEEDS,
  queue: QUEUE_NEEDS,
  table: TABLE_NEEDS,
  file: FILE_NEEDS,
};
const SERVICES = Object.keys(NEEDS) as RoleService[];

const BLOB_READS =
  "listBlobs listPaths getBlob getBlobProperties getBlobMetadata getBlockList getPageRanges " +
  "getPathStatus checkReadAccess checkExecuteAccess ";
const BLOB_WRITES =
  "putBlob setBlobProperties setBlobMetadata undeleteBlob leaseBlob breakBlobLease snapshotBlob " +
  "putBlock putBlockList putPage appendBlock sealBlob setBlobTier copyBlob copyBlobFromUrl " +
  "putBlobFromUrl copyBlobIncrementally abortCopyBlob putBlockFromUrl putPageFromUrl " +
  "appendBlockFromUrl deleteBlob createPath appendData flushData renamePath deletePath " +
  "undeletePath setBlobExpiry checkWriteAccess ";
const BLOB_OWNER =
  "getBlobTags setBlobTags findBlobsByTags findBlobsByTagsInContainer deleteBlobVersion " +
  "deleteBlobPermanently getAccessControl setAccessControl setAccessControlRecursive " +
  "setPathOwner ";
const CONTAINER_READS = "listContainers getContainerProperties getContainerMetadata ";
const CONTAINER_WRITES =
  "createContainer setContainerMetadata deleteContainer undeleteContainer leaseContainer " +
  "breakContainerLease ";
const CONTAINER_ACLS = "getContainerAcl setContainerAcl ";
const SERVICE = "getServiceProperties setServiceProperties getServiceStats ";
const KEY = "getUserDelegationKey ";
const QUEUE_READS = "listQueues getQueueMetadata ";
const QUEUE_WRITES = "createQueue deleteQueue setQueueMetadata ";
const TABLE_READS = "queryTables getTable ";
const TABLE_WRITES = "createTable deleteTable ";
const ENTITY_READS = "queryEntities getEntity ";
const ENTITY_WRITES =
  "insertEntity updateEntity mergeEntity insertOrReplaceEntity insertOrMergeEntity deleteEntity ";
const FILE_READS =
  "getPermission listDirectoriesAndFiles getDirectoryProperties getDirectoryMetadata getFile " +
  "getFileProperties getFileMetadata listRanges listHandles ";
const FILE_WRITES =
  "createPermission createDirectory setDirectoryProperties setDirectoryMetadata renameDirectory " +
  "renameSource deleteDirectory createFile setFileProperties setFileMetadata putRange renameFile " +
  "leaseFile breakFileLease copyFile abortCopyFile deleteFile forceCloseHandles ";

/** Everything that each role permits. What is not named here is refused. */
const PERMITTED: Readonly<Record<RoleName, Partial<Record<RoleService, string>>>> = {
  "account-contributor": {
    blob: `${SERVICE}${KEY}getAccountInformation ${CONTAINER_READS}${CONTAINER_WRITES}${CONTAINER_ACLS}`,
    queue: `${SERVICE}${KEY}${QUEUE_READS}${QUEUE_WRITES}getQueueAcl setQueueAcl`,
    table: `${SERVICE}${TABLE_READS}${TABLE_WRITES}getTableAcl setTableAcl`,
    file:
      `getServiceProperties setServiceProperties ${KEY}listShares createShare getShareProperties ` +
      "getShareMetadata setShareProperties setShareMetadata getShareAcl setShareAcl getShareStats listShareSnapshots " +
      "snapshotShare undeleteShare leaseShare breakShareLease deleteShare",
  },
  "blob-reader": { blob: KEY + CONTAINER_READS + BLOB_READS },
  "blob-contributor": {
    blob: KEY + CONTAINER_READS + CONTAINER_WRITES + BLOB_READS + BLOB_WRITES,
  },
  "blob-owner": {
    blob:
      KEY +
      CONTAINER_READS +
      CONTAINER_WRITES +
      CONTAINER_ACLS +
      BLOB_READS +
      BLOB_WRITES +
      BLOB_OWNER,
  },
  "blob-delegator": { blob: KEY },
  "queue-reader": { queue: `${QUEUE_READS}peekMessages` },
  "queue-contributor": {
    queue:
      `${QUEUE_READS}${QUEUE_WRITES}putMessage getMessages peekMessages updateMessage ` +
      "deleteMessage clearMessages",
  },
  "queue-processor": { queue: "peekMessages getMessages deleteMessage" },
  "queue-sender": { queue: "putMessage" },
  "queue-delegator": { queue: KEY },
  "table-reader": { table: TABLE_READS + ENTITY_READS },
  "table-contributor": { table: TABLE_READS + TABLE_WRITES + ENTITY_READS + ENTITY_WRITES },
  "file-reader": { file: FILE_READS },
  "file-contributor": { file: FILE_READS + FILE_WRITES },
  "file-delegator": { file: KEY },
};

const ME: CallerClaims = {
  oid: ["me"],
  tid: ["tenant"],
  sub: ["subject"],
  iss: ["issuer"],
  appid: ["app", "azp"],
  groups: ["readers", "writers"],
  roles: ["admin"],
};

function access(
  assignments: readonly RoleAssignment[],
  service: RoleService,
  container = "here",
  claims = ME,
): TokenAccess {
  return { kind: "token", assignments, service, container, claims };
}

function judge(token: TokenAccess, need: Need): string {
  return judgeByAccess(token, need, null, 0) ?? "permitted";
}

const REFUSED = "AuthorizationPermissionMismatch";

test("each role permits its operations, for its principal and its scope, and nothing else", () => {
  const principals: [Principal, boolean][] = [
    [{ oid: "me" }, true],
    [{ oid: "other" }, false],
  ];
  const scopes: [string | null, boolean][] = [
    [null, true],
    ["here", true],
    ["elsewhere", false],
    ["", false],
  ];
  for (const role of ROLES) {
    for (const service of SERVICES) {
      const permitted = operationsOf(role, service);
      for (const [operation, need] of Object.entries(NEEDS[service])) {
        for (const [principal, isMine] of principals) {
          for (const [container, covers] of scopes) {
            const token = access([{ principal, role, container }], service);
            assert.equal(
              judge(token, need),
              permitted.includes(operation) && isMine && covers ? "permitted" : REFUSED,
              [role.name, service, operation, JSON.stringify(principal), container].join(" "),
            );
          }
        }
      }
    }
  }
});

function operationsOf(role: Role, service: RoleService): string[] {
  const operations = (PERMITTED[role.name][service] ?? "").split(" ").filter((one) => one !== "");
  for (const operation of operations) assert.ok(operation in NEEDS[service], operation);
  return operations;
}

test("a principal is named by any claim, and by all of several", () => {
  const role = roleOf("blob-reader");
  const permits = (principal: Principal, claims: CallerClaims = ME) =>
    judgeByRoles(access([{ principal, role, container: null }], "blob", "here", claims), [
      "containers/blobs/read",
    ]) === null;
  for (const claim of PRINCIPAL_CLAIMS) {
    for (const value of ME[claim] ?? []) {
      assert.equal(permits({ [claim]: value }), true, `${claim} ${value}`);
      assert.equal(permits({ [claim]: value }, {}), false, `${claim} is missing`);
      for (const other of PRINCIPAL_CLAIMS) {
        if (other === claim) continue;
        assert.equal(permits({ [other]: value }), false, `${claim} is not ${other}`);
      }
    }
  }
  assert.equal(permits({ oid: "me", tid: "tenant" }), true);
  assert.equal(permits({ oid: "me", tid: "other" }), false);
  assert.equal(permits({ groups: "writers", appid: "azp" }), true);
});

test("several roles add up, and the scope of one does not widen another", () => {
  const principal = { oid: "me" };
  const both = [
    { principal, role: roleOf("blob-reader"), container: null },
    { principal, role: roleOf("blob-contributor"), container: "here" },
  ];
  assert.equal(judge(access(both, "blob", "there"), BLOB_NEEDS.getBlob), "permitted");
  assert.equal(judge(access(both, "blob", "there"), BLOB_NEEDS.putBlob), REFUSED);
  assert.equal(judge(access(both, "blob", "here"), BLOB_NEEDS.putBlob), "permitted");
  assert.equal(judge(access(both, "blob", ""), BLOB_NEEDS.listContainers), "permitted");
  assert.equal(judge(access(both, "blob", ""), BLOB_NEEDS.createContainer), REFUSED);
  assert.equal(judge(access([], "blob"), BLOB_NEEDS.getBlob), REFUSED);
});

test("table names are compared without case", () => {
  const all = [{ principal: { oid: "me" }, role: roleOf("table-reader"), container: "people" }];
  assert.equal(judge(access(all, "table", "People"), TABLE_NEEDS.getEntity), "permitted");
  assert.equal(judge(access(all, "table", "Peoples"), TABLE_NEEDS.getEntity), REFUSED);
});

test("a SAS of a user permits no more than the SAS and the user's roles together", () => {
  const all = [{ principal: { oid: "me" }, role: roleOf("blob-reader"), container: null }];
  const signer = access(all, "blob");
  const sas = (letters: string) =>
    ({ kind: "service-sas", letters, policy: null, signer }) as const;
  const told = (letters: string, need: Need) => judgeByAccess(sas(letters), need, null, 0);
  assert.equal(told("rw", BLOB_NEEDS.getBlob), null);
  assert.equal(told("w", BLOB_NEEDS.getBlob), REFUSED);
  assert.equal(told("rw", BLOB_NEEDS.putBlob), REFUSED);
});

test("a role that may create may replace", () => {
  const all = [{ principal: { oid: "me" }, role: roleOf("blob-contributor"), container: null }];
  assert.equal(judgeOverwrite(access(all, "blob"), null, 0), null);
});

test("roles of a whole account, or of its keys alone, fit no container", () => {
  const whole = ROLES.filter((role) => !fitsContainer(role)).map(({ name }) => name);
  assert.deepEqual(whole, [
    "account-contributor",
    "blob-delegator",
    "queue-delegator",
    "file-delegator",
  ]);
});

function roleOf(name: RoleName): Role {
  return ROLES.find((role) => role.name === name) as Role;
}

test("docs/reference/roles.md shows what every role permits", () => {
  assertReference("roles.md", reference());
});

function reference(): string {
  const rows = ROLES.map(({ name, title, actions }) => {
    const shown = Object.entries(actions).map(([service, list]) => {
      const all = list.map((action) => `\`${action}\``).join(", ");
      return Object.keys(actions).length === 1 ? all : `${service}: ${all}`;
    });
    return `| \`${name}\` | ${title} | ${shown.join("; ")} |\n`;
  });
  return `# Roles

Roles say what a bearer token may do. They stand in the [configuration file](configuration.md), and are those of Azure, with the
same actions. The [guide](../guides/https-and-oauth.md#roles) shows a file.

An account without roles takes every accepted token for its owner. As soon as one role covers an account, tokens may do there
what their roles permit, or in containers with directories [ACLs](access-control-lists.md), and everything else is 403
\`AuthorizationPermissionMismatch\`. Keys, account SAS and service SAS know no
roles, and neither does SMB, which logs on with a key.

| field of \`roles[]\` | meaning |
|---|---|
| \`principal\` | Claims of the token, each with its value; a token must have them all. \`oid\` (a user, a managed identity or a service principal), \`tid\` (a tenant), \`sub\` and \`iss\` (the subject and the issuer, with other issuers than Microsoft's), \`appid\` (an application; also found in \`azp\`), \`groups\` and \`roles\` (one of the list in the token). \`oid\` and \`tid\` are GUIDs; all other values are compared exactly. |
| \`role\` | A name of the table below: the short one, or Azure's. |
| \`scope\` | \`account\`, or \`account/name\` with the name of a container, queue, table or share, whichever the role is for. Without it: all accounts. |

Roles add up. A role for one container does not cover operations on the service, such as List Containers; a token that may list
needs its role for the account. Azure's roles for SMB (Storage File Data SMB Share …) are not among them: no token reaches SMB.

| role | Azure's name | actions |
|---|---|---|
${rows.join("")}
[Permissions](permissions.md) says which action each operation needs. The actions stand there and here without
\`Microsoft.Storage/storageAccounts/<service>Services/\`.

## User delegation SAS

Get User Delegation Key needs the action \`generateUserDelegationKey/action\` for the whole account. A SAS that such a key signed
permits what the SAS says and what the roles of the key's owner permit when it is used. The SAS names its owner by \`oid\` and \`tid\`
(or \`sub\` and \`iss\`) only, so roles by \`appid\`, \`groups\` or \`roles\` do not count for it: give the owner a role by \`oid\`.
`;
}
