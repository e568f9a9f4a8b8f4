import type { FaultCode } from "../base/fault.ts";

/** The services that roles speak of. Data Lake is another view of the Blob service. */
export type RoleService = "blob" | "file" | "queue" | "table";

/** The claims by which a role names its principal. All are texts, or lists of texts. */
export const PRINCIPAL_CLAIMS = ["oid", "tid", "sub", "iss", "appid", "groups", "roles"] as const;

export type PrincipalClaim = (typeof PRINCIPAL_CLAIMS)[number];

/** What is known of a caller: all values of each claim. */
export type CallerClaims = Readonly<Partial<Record<PrincipalClaim, readonly string[]>>>;

/** The callers that have each of these claims with this value. */
export type Principal = Readonly<Partial<Record<PrincipalClaim, string>>>;

/** A named set of actions. */
export interface Role {
  readonly name: RoleName;
  /** Azure's name of the same role. */
  readonly title: string;
  /** By service; a final `*` stands for anything. */
  readonly actions: Readonly<Partial<Record<RoleService, readonly string[]>>>;
}

/** A role that a principal has in an account. */
export interface RoleAssignment {
  readonly principal: Principal;
  readonly role: Role;
  /** The one container, queue, table (in lower case) or share that it covers; null for all. */
  readonly container: string | null;
}

/** A caller whose roles decide, and what it addresses. */
export interface RoleUse {
  readonly claims: CallerClaims;
  /** All assignments in the account. */
  readonly assignments: readonly RoleAssignment[];
  readonly service: RoleService;
  /** Container, queue, table or share; "" for the service itself. */
  readonly container: string;
}

export type RoleName =
  | "account-contributor"
  | "blob-reader"
  | "blob-contributor"
  | "blob-owner"
  | "blob-delegator"
  | "queue-reader"
  | "queue-contributor"
  | "queue-processor"
  | "queue-sender"
  | "queue-delegator"
  | "table-reader"
  | "table-contributor"
  | "file-reader"
  | "file-contributor"
  | "file-delegator";

const DELEGATE = "generateUserDelegationKey/action";
const MANAGE_SERVICE = ["read", "write", "getInfo/action", DELEGATE];

/** Actions that read, write and delete containers, queues, tables or shares, not what they hold. */
function manage(kind: string): string[] {
  const verbs = ["read", "write", "delete", "getAcl/action", "setAcl/action"];
  return [...MANAGE_SERVICE, ...verbs.map((verb) => `${kind}/${verb}`)];
}

/**
 * Azure's built-in roles for data, with Azure's actions, which stand here without
 * `Microsoft.Storage/storageAccounts/<service>Services/`. docs/reference/roles.md shows the same
 * table, and a test compares them.
 */
export const ROLES: readonly Role[] = [
  {
    name: "account-contributor",
    title: "Storage Account Contributor",
    actions: {
      blob: manage("containers"),
      queue: manage("queues"),
      table: manage("tables"),
      file: [...MANAGE_SERVICE, "shares/*"],
    },
  },
  {
    name: "blob-reader",
    title: "Storage Blob Data Reader",
    actions: { blob: [DELEGATE, "containers/read", "containers/blobs/read"] },
  },
  {
    name: "blob-contributor",
    title: "Storage Blob Data Contributor",
    actions: {
      blob: [
        DELEGATE,
        "containers/read",
        "containers/write",
        "containers/delete",
        "containers/blobs/read",
        "containers/blobs/write",
        "containers/blobs/add/action",
        "containers/blobs/move/action",
        "containers/blobs/delete",
      ],
    },
  },
  {
    name: "blob-owner",
    title: "Storage Blob Data Owner",
    actions: { blob: [DELEGATE, "containers/*"] },
  },
  { name: "blob-delegator", title: "Storage Blob Delegator", actions: { blob: [DELEGATE] } },
  {
    name: "queue-reader",
    title: "Storage Queue Data Reader",
    actions: { queue: ["queues/read", "queues/messages/read"] },
  },
  {
    name: "queue-contributor",
    title: "Storage Queue Data Contributor",
    actions: {
      queue: [
        "queues/read",
        "queues/write",
        "queues/delete",
        "queues/messages/read",
        "queues/messages/write",
        "queues/messages/process/action",
        "queues/messages/delete",
      ],
    },
  },
  {
    name: "queue-processor",
    title: "Storage Queue Data Message Processor",
    actions: { queue: ["queues/messages/read", "queues/messages/process/action"] },
  },
  {
    name: "queue-sender",
    title: "Storage Queue Data Message Sender",
    actions: { queue: ["queues/messages/add/action"] },
  },
  { name: "queue-delegator", title: "Storage Queue Delegator", actions: { queue: [DELEGATE] } },
  {
    name: "table-reader",
    title: "Storage Table Data Reader",
    actions: { table: ["tables/read", "tables/entities/read"] },
  },
  {
    name: "table-contributor",
    title: "Storage Table Data Contributor",
    actions: {
      table: [
        "tables/read",
        "tables/write",
        "tables/delete",
        "tables/entities/read",
        "tables/entities/write",
        "tables/entities/add/action",
        "tables/entities/update/action",
        "tables/entities/delete",
      ],
    },
  },
  {
    name: "file-reader",
    title: "Storage File Data Privileged Reader",
    actions: { file: ["fileShares/files/read"] },
  },
  {
    name: "file-contributor",
    title: "Storage File Data Privileged Contributor",
    actions: {
      file: [
        "fileShares/files/read",
        "fileShares/files/write",
        "fileShares/files/delete",
        "fileShares/files/modifypermissions/action",
      ],
    },
  },
  { name: "file-delegator", title: "Storage File Delegator", actions: { file: [DELEGATE] } },
];

/**
 * Judges by roles: one assignment must name the caller, cover the container and permit one of the
 * actions.
 */
export function judgeByRoles(use: RoleUse, actions: readonly string[]): FaultCode | null {
  const permits = use.assignments.some(
    ({ principal, role, container }) =>
      (container === null || container === nameOf(use)) &&
      actions.some((action) => permitsAction(role, use.service, action)) &&
      names(principal, use.claims),
  );
  return permits ? null : "AuthorizationPermissionMismatch";
}

/** Table names are compared without case. All other names are in lower case. */
function nameOf({ service, container }: RoleUse): string {
  return service === "table" ? container.toLowerCase() : container;
}

export function permitsAction(role: Role, service: RoleService, action: string): boolean {
  const patterns = role.actions[service] ?? [];
  return patterns.some((pattern) =>
    pattern.endsWith("*") ? action.startsWith(pattern.slice(0, -1)) : action === pattern,
  );
}

/** Whether a role can be given for one container, queue, table or share. */
export function fitsContainer({ actions }: Role): boolean {
  const [patterns = [], ...others] = Object.values(actions);
  return others.length === 0 && patterns.some((pattern) => pattern !== DELEGATE);
}

function names(principal: Principal, claims: CallerClaims): boolean {
  const wanted = Object.entries(principal) as [PrincipalClaim, string][];
  return wanted.every(([claim, value]) => claims[claim]?.includes(value) === true);
}
