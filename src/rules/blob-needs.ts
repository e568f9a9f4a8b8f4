import type { Need } from "./access.ts";
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
  listBlobs: { ...object("l", "read"), on: "c", anonymous: "container" },

  putBlob: object("cw", "write"),
  getBlob: readable(),
  getBlobProperties: readable(),
  getBlobMetadata: readable(),
  getBlockList: readable(),
  setBlobProperties: object("w", "write"),
  setBlobMetadata: object("w", "write"),
  deleteBlob: object("d", "delete"),
  deleteBlobVersion: object("x", "deleteBlobVersion/action"),
  deleteBlobPermanently: object("y", "permanentDelete/action"),
  undeleteBlob: object("w", "write"),
  leaseBlob: object("w", "write"),
  breakBlobLease: object("wd", "write"),
  snapshotBlob: object("cw", "write"),
  putBlock: object("cw", "write"),
  putBlockList: object("cw", "write"),
  putPage: object("w", "write"),
  getPageRanges: readable(),
  appendBlock: object("aw", "write", "add/action"),
  sealBlob: object("w", "write"),
  getBlobTags: object("t", "tags/read"),
  setBlobTags: object("t", "tags/write"),
  setBlobTier: object("w", "write"),
  copyBlob: object("cw", "write"),
  copyBlobFromUrl: object("cw", "write"),
  putBlobFromUrl: object("cw", "write"),
  copyBlobIncrementally: object("cw", "write"),
  abortCopyBlob: object("w", "write"),
  putBlockFromUrl: object("cw", "write"),
  putPageFromUrl: object("w", "write"),
  appendBlockFromUrl: object("aw", "write", "add/action"),
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
  return { ...object("r", "read"), anonymous: "blob" };
}
