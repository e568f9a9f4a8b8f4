import type { FileHandler } from "./call.ts";
import { handleCreateDirectory } from "./create-directory.ts";
import { handleCreateFile } from "./create-file.ts";
import { handleCreateShare } from "./create-share.ts";
import { handleDeleteDirectory } from "./delete-directory.ts";
import { handleDeleteFile } from "./delete-file.ts";
import { handleDeleteShare } from "./delete-share.ts";
import { handleForceCloseHandles } from "./force-close-handles.ts";
import { handleGetDirectoryProperties } from "./get-directory-properties.ts";
import { handleGetFile } from "./get-file.ts";
import { handleGetFileProperties } from "./get-file-properties.ts";
import { handleGetServiceProperties } from "./get-service-properties.ts";
import { handleGetShareProperties } from "./get-share-properties.ts";
import { handleGetUserDelegationKey } from "./get-user-delegation-key.ts";
import { handleLeaseFile } from "./lease-file.ts";
import { handleLeaseShare } from "./lease-share.ts";
import { handleListHandles } from "./list-handles.ts";
import { handlePutRange } from "./put-range.ts";
import type { FileOperationName } from "./route.ts";
import { handleSetDirectoryMetadata } from "./set-directory-metadata.ts";

/**
 * Who handles what. Operations of the service that are not here are refused by name;
 * docs/reference/file-operations.md lists both kinds, and a test compares them.
 */
export const FILE_HANDLERS: Readonly<Partial<Record<FileOperationName, FileHandler>>> = {
  getServiceProperties: handleGetServiceProperties,
  getUserDelegationKey: handleGetUserDelegationKey,

  createShare: handleCreateShare,
  getShareProperties: handleGetShareProperties,
  deleteShare: handleDeleteShare,
  leaseShare: handleLeaseShare,

  createDirectory: handleCreateDirectory,
  getDirectoryProperties: handleGetDirectoryProperties,
  setDirectoryMetadata: handleSetDirectoryMetadata,
  deleteDirectory: handleDeleteDirectory,

  createFile: handleCreateFile,
  getFile: handleGetFile,
  getFileProperties: handleGetFileProperties,
  putRange: handlePutRange,
  leaseFile: handleLeaseFile,
  listHandles: handleListHandles,
  forceCloseHandles: handleForceCloseHandles,
  deleteFile: handleDeleteFile,
};
