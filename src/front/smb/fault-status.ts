import type { FaultCode } from "../../base/fault.ts";
import { StoreError, type StoreErrorKind } from "../../store/store.ts";
import { type NtStatus, STATUS } from "./nt-status.ts";

/**
 * The NT status of each fault. Codes that no operation of SMB can cause are missing: one of them
 * here is a bug.
 */
const STATUS_OF_FAULT: Partial<Record<FaultCode, NtStatus>> = {
  AuthorizationPermissionMismatch: STATUS.ACCESS_DENIED,
  CannotDeleteFileOrDirectory: STATUS.CANNOT_DELETE,
  DeletePending: STATUS.DELETE_PENDING,
  DirectoryNotEmpty: STATUS.DIRECTORY_NOT_EMPTY,
  FileInvalidPermission: STATUS.INVALID_SECURITY_DESCR,
  FileLockConflict: STATUS.FILE_LOCK_CONFLICT,
  HandleLimitExceeded: STATUS.TOO_MANY_OPENED_FILES,
  InsufficientStorage: STATUS.DISK_FULL,
  ShareSizeLimitReached: STATUS.DISK_FULL,
  InvalidFileOrDirectoryPathName: STATUS.OBJECT_NAME_INVALID,
  InvalidHandle: STATUS.FILE_CLOSED,
  InvalidInput: STATUS.INVALID_PARAMETER,
  InvalidResourceName: STATUS.OBJECT_NAME_INVALID,
  OutOfRangeInput: STATUS.INVALID_PARAMETER,
  ParentNotFound: STATUS.OBJECT_PATH_NOT_FOUND,
  ReadOnlyAttribute: STATUS.ACCESS_DENIED,
  ResourceAlreadyExists: STATUS.OBJECT_NAME_COLLISION,
  ResourceNotFound: STATUS.OBJECT_NAME_NOT_FOUND,
  ResourceTypeMismatch: STATUS.INVALID_DEVICE_REQUEST,
  ServerBusy: STATUS.INSUFFICIENT_RESOURCES,
  ShareNotFound: STATUS.NETWORK_NAME_DELETED,
  SharingViolation: STATUS.SHARING_VIOLATION,
};

/** Null for a code without an NT status. */
export function statusOfFault(code: FaultCode): NtStatus | null {
  return STATUS_OF_FAULT[code] ?? null;
}

/** The NT status for each failure of the engine. A client may repeat what was unavailable. */
const STATUS_OF_FAILURE: Record<StoreErrorKind, NtStatus> = {
  broken: STATUS.SERVER_UNAVAILABLE,
  unreachable: STATUS.SERVER_UNAVAILABLE,
  full: STATUS.DISK_FULL,
  unknown: STATUS.INTERNAL_ERROR,
  damaged: STATUS.INTERNAL_ERROR,
};

/** The NT status that a client gets for an error that is no refusal. */
export function statusOfFailure(error: unknown): NtStatus {
  return error instanceof StoreError ? STATUS_OF_FAILURE[error.kind] : STATUS.INTERNAL_ERROR;
}
