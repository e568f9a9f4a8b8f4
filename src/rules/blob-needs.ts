import type { Need } from "./access.ts";
import { SERVICE_NEEDS } from "./service-needs.ts";

/**
 * The permissions that each Blob operation needs of a SAS or of public access; the account key
 * permits all. docs/reference/permissions.md shows the same table, and a test compares them.
 */
export const BLOB_NEEDS = {
  ...SERVICE_NEEDS,
  listContainers: service("l"),
  getUserDelegationKey: service(""),
  getAccountInformation: { on: "s", account: "r", service: "r", anonymous: "never" },

  createContainer: container("cw"),
  getContainerProperties: { ...container("r"), anonymous: "container" },
  getContainerMetadata: { ...container("r"), anonymous: "container" },
  setContainerMetadata: container("w"),
  getContainerAcl: container(""),
  setContainerAcl: container(""),
  deleteContainer: container("d"),
  undeleteContainer: container("w"),
  leaseContainer: container("w"),
  breakContainerLease: container("wd"),
  findBlobsByTags: { ...object("f"), service: "" },
  /** The documentation says o, Azurite c: either permits it. With o it covers all containers. */
  findBlobsByTagsInContainer: { ...object("f"), on: "co" },
  listBlobs: { on: "c", account: "l", service: "l", anonymous: "container" },

  putBlob: object("cw"),
  getBlob: readable(),
  getBlobProperties: readable(),
  getBlobMetadata: readable(),
  getBlockList: readable(),
  setBlobProperties: object("w"),
  setBlobMetadata: object("w"),
  deleteBlob: object("d"),
  deleteBlobVersion: object("x"),
  deleteBlobPermanently: object("y"),
  undeleteBlob: object("w"),
  leaseBlob: object("w"),
  breakBlobLease: object("wd"),
  snapshotBlob: object("cw"),
  putBlock: object("cw"),
  putBlockList: object("cw"),
  putPage: object("w"),
  getPageRanges: readable(),
  appendBlock: object("aw"),
  sealBlob: object("w"),
  getBlobTags: object("t"),
  setBlobTags: object("t"),
  setBlobTier: object("w"),
  copyBlob: object("cw"),
  copyBlobFromUrl: object("cw"),
  putBlobFromUrl: object("cw"),
  copyBlobIncrementally: object("cw"),
  abortCopyBlob: object("w"),
  putBlockFromUrl: object("cw"),
  putPageFromUrl: object("w"),
  appendBlockFromUrl: object("aw"),
} as const satisfies Record<string, Need>;

function service(letters: string): Need {
  return { on: "s", account: letters, service: "", anonymous: "never" };
}

/** No service SAS permits operations on containers. */
function container(letters: string): Need {
  return { on: "c", account: letters, service: "", anonymous: "never" };
}

function object(letters: string): Need {
  return { on: "o", account: letters, service: letters, anonymous: "never" };
}

function readable(): Need {
  return { on: "o", account: "r", service: "r", anonymous: "blob" };
}
