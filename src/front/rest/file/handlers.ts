import { handleAbortCopyFile } from "./abort-copy-file.ts";
import type { FileHandler } from "./call.ts";
import { handleCopyFile } from "./copy-file.ts";
import { handleCreateDirectory } from "./create-directory.ts";
import { handleCreateFile } from "./create-file.ts";
import { handleCreatePermission } from "./create-permission.ts";
import { handleCreateShare } from "./create-share.ts";
import { handleDeleteDirectory } from "./delete-directory.ts";
import { handleDeleteFile } from "./delete-file.ts";
import { handleDeleteShare } from "./delete-share.ts";
import { handleForceCloseHandles } from "./force-close-handles.ts";
import { handleGetDirectoryMetadata } from "./get-directory-metadata.ts";
import { handleGetDirectoryProperties } from "./get-directory-properties.ts";
import { handleGetFile } from "./get-file.ts";
import { handleGetFileMetadata } from "./get-file-metadata.ts";
import { handleGetFileProperties } from "./get-file-properties.ts";
import { handleGetPermission } from "./get-permission.ts";
import { handleGetServiceProperties } from "./get-service-properties.ts";
import { handleGetShareAcl } from "./get-share-acl.ts";
import { handleGetShareMetadata } from "./get-share-metadata.ts";
import { handleGetShareProperties } from "./get-share-properties.ts";
import { handleGetShareStats } from "./get-share-stats.ts";
import { handleGetUserDelegationKey } from "./get-user-delegation-key.ts";
import { handleLeaseFile } from "./lease-file.ts";
import { handleLeaseShare } from "./lease-share.ts";
import { handleLinks } from "./links.ts";
import { handleListDirectoriesAndFiles } from "./list-directories-and-files.ts";
import { handleListHandles } from "./list-handles.ts";
import { handleListRanges } from "./list-ranges.ts";
import { handleListShareSnapshots } from "./list-share-snapshots.ts";
import { handleListShares } from "./list-shares.ts";
import { handlePutRange } from "./put-range.ts";
import { handlePutRangeFromUrl } from "./put-range-from-url.ts";
import { handleRenameDirectory } from "./rename-directory.ts";
import { handleRenameFile } from "./rename-file.ts";
import type { FileOperationName } from "./route.ts";
import { handleSetDirectoryMetadata } from "./set-directory-metadata.ts";
import { handleSetDirectoryProperties } from "./set-directory-properties.ts";
import { handleSetFileMetadata } from "./set-file-metadata.ts";
import { handleSetFileProperties } from "./set-file-properties.ts";
import { handleSetServiceProperties } from "./set-service-properties.ts";
import { handleSetShareAcl } from "./set-share-acl.ts";
import { handleSetShareMetadata } from "./set-share-metadata.ts";
import { handleSetShareProperties } from "./set-share-properties.ts";
import { handleSnapshotShare } from "./snapshot-share.ts";
import { handleUndeleteShare } from "./undelete-share.ts";

/**
 * The handler of each operation. Operations without one are refused by name; a test compares
 * docs/reference/file-operations.md with this table.
 */
export const FILE_HANDLERS: Readonly<Partial<Record<FileOperationName, FileHandler>>> = {
  getServiceProperties: handleGetServiceProperties,
  setServiceProperties: handleSetServiceProperties,
  getUserDelegationKey: handleGetUserDelegationKey,
  listShares: handleListShares,

  createShare: handleCreateShare,
  getShareProperties: handleGetShareProperties,
  setShareProperties: handleSetShareProperties,
  getShareMetadata: handleGetShareMetadata,
  setShareMetadata: handleSetShareMetadata,
  getShareAcl: handleGetShareAcl,
  setShareAcl: handleSetShareAcl,
  getShareStats: handleGetShareStats,
  listShareSnapshots: handleListShareSnapshots,
  leaseShare: handleLeaseShare,
  snapshotShare: handleSnapshotShare,
  undeleteShare: handleUndeleteShare,
  deleteShare: handleDeleteShare,
  createPermission: handleCreatePermission,
  getPermission: handleGetPermission,

  listDirectoriesAndFiles: handleListDirectoriesAndFiles,
  createDirectory: handleCreateDirectory,
  getDirectoryProperties: handleGetDirectoryProperties,
  setDirectoryProperties: handleSetDirectoryProperties,
  getDirectoryMetadata: handleGetDirectoryMetadata,
  setDirectoryMetadata: handleSetDirectoryMetadata,
  renameDirectory: handleRenameDirectory,
  deleteDirectory: handleDeleteDirectory,

  createFile: handleCreateFile,
  getFile: handleGetFile,
  getFileProperties: handleGetFileProperties,
  setFileProperties: handleSetFileProperties,
  getFileMetadata: handleGetFileMetadata,
  setFileMetadata: handleSetFileMetadata,
  putRange: handlePutRange,
  putRangeFromUrl: handlePutRangeFromUrl,
  copyFile: handleCopyFile,
  abortCopyFile: handleAbortCopyFile,
  listRanges: handleListRanges,
  renameFile: handleRenameFile,
  leaseFile: handleLeaseFile,
  deleteFile: handleDeleteFile,

  listHandles: handleListHandles,
  forceCloseHandles: handleForceCloseHandles,

  createSymbolicLink: handleLinks,
  getSymbolicLink: handleLinks,
  createHardLink: handleLinks,
};
