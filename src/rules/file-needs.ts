import type { Need } from "./access.ts";
import { SERVICE_NEEDS } from "./service-needs.ts";

/**
 * The permissions that each File operation needs of a SAS; the account key permits all.
 * docs/reference/permissions.md shows the same table, and a test compares them.
 */
export const FILE_NEEDS = {
  getServiceProperties: SERVICE_NEEDS.getServiceProperties,
  setServiceProperties: SERVICE_NEEDS.setServiceProperties,
  listShares: { on: "s", account: "l", service: "", anonymous: "never" },
  getUserDelegationKey: { on: "s", account: "", service: "", anonymous: "never" },

  createShare: share("cw"),
  getShareProperties: share("r"),
  getShareMetadata: share("r"),
  setShareProperties: share("w"),
  setShareMetadata: share("w"),
  getShareAcl: share(""),
  setShareAcl: share(""),
  getShareStats: share("r"),
  snapshotShare: share("cw"),
  undeleteShare: share("w"),
  leaseShare: share("w"),
  breakShareLease: share("wd"),
  deleteShare: share("d"),
  /**
   * Files and directories are created with permissions, so a caller that may write those may do
   * this.
   */
  createPermission: { on: "o", account: "cw", service: "cw", anonymous: "never" },
  getPermission: { on: "o", account: "r", service: "r", anonymous: "never" },

  listDirectoriesAndFiles: { on: "c", account: "l", service: "l", anonymous: "never" },
  createDirectory: object("cw"),
  getDirectoryProperties: object("r"),
  getDirectoryMetadata: object("r"),
  setDirectoryProperties: object("w"),
  setDirectoryMetadata: object("w"),
  renameDirectory: object("w"),
  /** The source of a rename; the line of the operation itself is about the target. */
  renameSource: object("rw"),
  deleteDirectory: object("d"),

  createFile: object("cw"),
  getFile: object("r"),
  getFileProperties: object("r"),
  getFileMetadata: object("r"),
  setFileProperties: object("w"),
  setFileMetadata: object("w"),
  putRange: object("w"),
  listRanges: object("r"),
  renameFile: object("w"),
  leaseFile: object("w"),
  breakFileLease: object("wd"),
  copyFile: object("cw"),
  abortCopyFile: object("w"),
  deleteFile: object("d"),
  listHandles: object("r"),
  forceCloseHandles: object("w"),
} as const satisfies Record<string, Need>;

/** No service SAS permits operations on a share as a whole. */
function share(letters: string): Need {
  return { on: "c", account: letters, service: "", anonymous: "never" };
}

function object(letters: string): Need {
  return { on: "o", account: letters, service: letters, anonymous: "never" };
}
