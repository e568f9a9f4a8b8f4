import type { Need } from "./access.ts";
import { SERVICE_NEEDS, USER_DELEGATION_KEY_NEED } from "./service-needs.ts";

/**
 * The permissions that each File operation needs of a SAS or a role; the account key permits all.
 * docs/reference/permissions.md shows the same table, and a test compares them.
 */
export const FILE_NEEDS = {
  getServiceProperties: SERVICE_NEEDS.getServiceProperties,
  setServiceProperties: SERVICE_NEEDS.setServiceProperties,
  listShares: { ...share("l", "read"), on: "s" },
  getUserDelegationKey: USER_DELEGATION_KEY_NEED,

  createShare: share("cw", "write"),
  getShareProperties: share("r", "read"),
  getShareMetadata: share("r", "read"),
  setShareProperties: share("w", "write"),
  setShareMetadata: share("w", "write"),
  getShareAcl: share("", "read"),
  setShareAcl: share("", "write"),
  getShareStats: share("r", "read"),
  listShareSnapshots: share("r", "read"),
  snapshotShare: share("cw", "write"),
  undeleteShare: share("w", "restore/action"),
  leaseShare: share("w", "lease/action"),
  breakShareLease: share("wd", "lease/action"),
  deleteShare: share("d", "delete"),
  /**
   * Files and directories are created with permissions, so a caller that may write those may do
   * this.
   */
  createPermission: object("cw", "modifypermissions/action"),
  getPermission: object("r", "read"),

  listDirectoriesAndFiles: { ...object("l", "read"), on: "c" },
  createDirectory: object("cw", "write"),
  getDirectoryProperties: object("r", "read"),
  getDirectoryMetadata: object("r", "read"),
  setDirectoryProperties: object("w", "write"),
  setDirectoryMetadata: object("w", "write"),
  renameDirectory: object("w", "write"),
  /** The source of a rename; the line of the operation itself is about the target. */
  renameSource: object("rw", "write"),
  deleteDirectory: object("d", "write"),

  createFile: object("cw", "write"),
  getFile: object("r", "read"),
  getFileProperties: object("r", "read"),
  getFileMetadata: object("r", "read"),
  setFileProperties: object("w", "write"),
  setFileMetadata: object("w", "write"),
  putRange: object("w", "write"),
  listRanges: object("r", "read"),
  renameFile: object("w", "write"),
  leaseFile: object("w", "write"),
  breakFileLease: object("wd", "write"),
  copyFile: object("cw", "write"),
  abortCopyFile: object("w", "write"),
  deleteFile: object("d", "write"),
  listHandles: object("r", "read"),
  forceCloseHandles: object("w", "write"),
} as const satisfies Record<string, Need>;

/** No service SAS permits operations on a share as a whole. */
function share(letters: string, action: string): Need {
  const actions = [`shares/${action}`];
  return { on: "c", account: letters, service: "", anonymous: "never", actions };
}

function object(letters: string, action: string): Need {
  const actions = [`fileShares/files/${action}`];
  return { on: "o", account: letters, service: letters, anonymous: "never", actions };
}
