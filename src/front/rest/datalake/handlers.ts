import { handleAppendData } from "./append-data.ts";
import type { DataLakeHandler } from "./call.ts";
import { handleCheckAccess } from "./check-access.ts";
import { handleCreateFilesystem } from "./create-filesystem.ts";
import { handleCreatePath } from "./create-path.ts";
import { handleDeleteFilesystem } from "./delete-filesystem.ts";
import { handleDeletePath } from "./delete-path.ts";
import { handleFlushData } from "./flush-data.ts";
import { handleGetAccessControl } from "./get-access-control.ts";
import { handleGetFilesystemProperties } from "./get-filesystem-properties.ts";
import { handleGetPathProperties, handleGetPathStatus } from "./get-path-properties.ts";
import { handleLeasePath } from "./lease-path.ts";
import { handleListFilesystems } from "./list-filesystems.ts";
import { handleListPaths } from "./list-paths.ts";
import { handleReadPath } from "./read-path.ts";
import { handleRenamePath } from "./rename-path.ts";
import type { DataLakeOperationName } from "./route.ts";
import { handleSetAccessControl } from "./set-access-control.ts";
import { handleSetAccessControlRecursive } from "./set-access-control-recursive.ts";
import { handleSetFilesystemProperties } from "./set-filesystem-properties.ts";
import { handleSetPathProperties } from "./set-path-properties.ts";

/** The handler of each operation. */
export const DATALAKE_HANDLERS: Readonly<Record<DataLakeOperationName, DataLakeHandler>> = {
  listFilesystems: handleListFilesystems,
  createFilesystem: handleCreateFilesystem,
  getFilesystemProperties: handleGetFilesystemProperties,
  setFilesystemProperties: handleSetFilesystemProperties,
  deleteFilesystem: handleDeleteFilesystem,
  listPaths: handleListPaths,
  createPath: handleCreatePath,
  renamePath: handleRenamePath,
  readPath: handleReadPath,
  getPathProperties: handleGetPathProperties,
  getPathStatus: handleGetPathStatus,
  appendData: handleAppendData,
  flushData: handleFlushData,
  setPathProperties: handleSetPathProperties,
  getAccessControl: handleGetAccessControl,
  checkAccess: handleCheckAccess,
  setAccessControl: handleSetAccessControl,
  setAccessControlRecursive: handleSetAccessControlRecursive,
  leasePath: handleLeasePath,
  deletePath: handleDeletePath,
};
