import type { Need } from "./access.ts";
import type { AclNeed } from "./posix-acl.ts";
import { SERVICE_NEEDS, USER_DELEGATION_KEY_NEED } from "./service-needs.ts";

/**
 * The permissions that each Blob operation needs of a SAS, a role or public access; the account key
 * permits all. docs/reference/permissions.md shows the same table, and a test compares them.
 */
export const BLOB_NEEDS = {
  ...SERVICE_NEEDS,
  listContainers: { ...container("l", "read"), on: "s" },
  getUserDelegationKey: USER_DELEGATION_KEY_NEED,
  getAccountInformation: {
    ...SERVICE_NEEDS.getServiceProperties,
    service: "r",
    actions: ["getInfo/action"],
  },

  createContainer: container("cw", "write"),
  getContainerProperties: { ...container("r", "read"), anonymous: "container" },
  getContainerMetadata: { ...container("r", "read"), anonymous: "container" },
  setContainerMetadata: container("w", "write"),
  getContainerAcl: container("", "getAcl/action"),
  setContainerAcl: container("", "setAcl/action"),
  deleteContainer: container("d", "delete"),
  undeleteContainer: container("w", "write"),
  leaseContainer: container("w", "write"),
  breakContainerLease: container("wd", "write"),
  findBlobsByTags: { ...object("f", "filter/action"), service: "" },
  /** The documentation says o, Azurite c: either permits it. With o it covers all containers. */
  findBlobsByTagsInContainer: { ...object("f", "filter/action"), on: "co" },
  listBlobs: by("list", { ...object("l", "read"), on: "c", anonymous: "container" }),

  putBlob: by("create", object("cw", "write")),
  getBlob: readable(),
  getBlobProperties: readable(),
  getBlobMetadata: readable(),
  getBlockList: readable(),
  setBlobProperties: by("write", object("w", "write")),
  setBlobMetadata: by("write", object("w", "write")),
  deleteBlob: by("delete", object("d", "delete")),
  deleteBlobVersion: by("delete", object("x", "deleteBlobVersion/action")),
  deleteBlobPermanently: by("delete", object("y", "permanentDelete/action")),
  undeleteBlob: by("create", object("w", "write")),
  leaseBlob: by("write", object("w", "write")),
  breakBlobLease: by("write", object("wd", "write")),
  snapshotBlob: by("write", object("cw", "write")),
  putBlock: by("create", object("cw", "write")),
  putBlockList: by("create", object("cw", "write")),
  putPage: by("append", object("w", "write")),
  getPageRanges: readable(),
  appendBlock: by("append", object("aw", "write", "add/action")),
  sealBlob: by("write", object("w", "write")),
  getBlobTags: object("t", "tags/read"),
  setBlobTags: object("t", "tags/write"),
  setBlobTier: by("write", object("w", "write")),
  copyBlob: by("create", object("cw", "write")),
  copyBlobFromUrl: by("create", object("cw", "write")),
  putBlobFromUrl: by("create", object("cw", "write")),
  copyBlobIncrementally: by("create", object("cw", "write")),
  abortCopyBlob: by("write", object("w", "write")),
  /** What imports and exports do that no client of the service does: the account's key only. */
  placeRevision: object(""),
  getBlock: object(""),
  pipeline: object(""),
  readDeleted: object(""),
  putBlockFromUrl: by("create", object("cw", "write")),
  putPageFromUrl: by("append", object("w", "write")),
  appendBlockFromUrl: by("append", object("aw", "write", "add/action")),

  createPath: by("create", object("cw", "write")),
  appendData: by("append", object("aw", "write", "add/action")),
  flushData: by("append", object("w", "write")),
  listPaths: by("list", { ...object("l", "read"), on: "c", anonymous: "container" }),
  /** What a rename needs at the old name. The new name needs `createPath`. */
  renamePath: by("delete", object("m", "move/action", "delete")),
  deletePath: by("delete", object("d", "delete")),
  undeletePath: by("create", object("w", "write")),
  getPathStatus: by("traverse", { ...object("r", "read"), service: "re" }),
  /** Of Check Access, for each of the rights that it asks for. */
  checkReadAccess: by("read", object("r", "read")),
  checkWriteAccess: by("write", object("w", "write")),
  checkExecuteAccess: by("execute", { ...object("r", "read"), service: "re" }),
  setBlobExpiry: by("write", object("w", "write")),
  getAccessControl: by("traverse", { ...object("r", "runAsSuperUser/action"), service: "e" }),
  setAccessControl: by("own", { ...object("w", "modifyPermissions/action"), service: "p" }),
  /** Each path that it changes needs `setAccessControl`. */
  setAccessControlRecursive: by("traverse", {
    ...object("w", "modifyPermissions/action"),
    service: "p",
  }),
  /** Of Set Access Control and Create Path, if they name an owner or a group. */
  setPathOwner: by("own", { ...object("w", "manageOwnership/action"), service: "o" }),
} as const satisfies Record<string, Need>;

/** No service SAS permits operations on containers. */
function container(letters: string, action: string): Need {
  const actions = [`containers/${action}`];
  return { on: "c", account: letters, service: "", anonymous: "never", actions };
}

function object(letters: string, ...verbs: string[]): Need {
  const actions = verbs.map((verb) => `containers/blobs/${verb}`);
  return { on: "o", account: letters, service: letters, anonymous: "never", actions };
}

function readable(): Need {
  return by("read", { ...object("r", "read"), anonymous: "blob" });
}

/** Where ACLs can permit it, too. */
function by(acl: AclNeed, need: Need): Need {
  return { ...need, acl };
}
