/** NT status codes, by their names in the protocol's documents. */
export const STATUS = {
  SUCCESS: 0x00000000,
  PENDING: 0x00000103,
  NOTIFY_CLEANUP: 0x0000010b,
  NOTIFY_ENUM_DIR: 0x0000010c,
  BUFFER_OVERFLOW: 0x80000005,
  NO_MORE_FILES: 0x80000006,
  UNSUCCESSFUL: 0xc0000001,
  NOT_IMPLEMENTED: 0xc0000002,
  INVALID_INFO_CLASS: 0xc0000003,
  INFO_LENGTH_MISMATCH: 0xc0000004,
  INVALID_PARAMETER: 0xc000000d,
  INVALID_VIEW_SIZE: 0xc000001f,
  NO_SUCH_FILE: 0xc000000f,
  INVALID_DEVICE_REQUEST: 0xc0000010,
  END_OF_FILE: 0xc0000011,
  MORE_PROCESSING_REQUIRED: 0xc0000016,
  ACCESS_DENIED: 0xc0000022,
  BUFFER_TOO_SMALL: 0xc0000023,
  OBJECT_NAME_INVALID: 0xc0000033,
  OBJECT_NAME_NOT_FOUND: 0xc0000034,
  OBJECT_NAME_COLLISION: 0xc0000035,
  OBJECT_PATH_NOT_FOUND: 0xc000003a,
  OBJECT_PATH_SYNTAX_BAD: 0xc000003b,
  SHARING_VIOLATION: 0xc0000043,
  EAS_NOT_SUPPORTED: 0xc000004f,
  FILE_LOCK_CONFLICT: 0xc0000054,
  LOCK_NOT_GRANTED: 0xc0000055,
  DELETE_PENDING: 0xc0000056,
  BAD_IMPERSONATION_LEVEL: 0xc00000a5,
  LOGON_FAILURE: 0xc000006d,
  INVALID_SECURITY_DESCR: 0xc0000079,
  RANGE_NOT_LOCKED: 0xc000007e,
  DISK_FULL: 0xc000007f,
  INSUFFICIENT_RESOURCES: 0xc000009a,
  MEDIA_WRITE_PROTECTED: 0xc00000a2,
  PIPE_DISCONNECTED: 0xc00000b0,
  INVALID_PIPE_STATE: 0xc00000ad,
  IO_TIMEOUT: 0xc00000b5,
  FILE_IS_A_DIRECTORY: 0xc00000ba,
  NOT_SUPPORTED: 0xc00000bb,
  NETWORK_NAME_DELETED: 0xc00000c9,
  BAD_NETWORK_NAME: 0xc00000cc,
  REQUEST_NOT_ACCEPTED: 0xc00000d0,
  INVALID_OPLOCK_PROTOCOL: 0xc00000e3,
  INTERNAL_ERROR: 0xc00000e5,
  DIRECTORY_NOT_EMPTY: 0xc0000101,
  NOT_A_DIRECTORY: 0xc0000103,
  TOO_MANY_OPENED_FILES: 0xc000011f,
  CANCELLED: 0xc0000120,
  CANNOT_DELETE: 0xc0000121,
  FILE_CLOSED: 0xc0000128,
  INVALID_LOCK_RANGE: 0xc00001a1,
  FS_DRIVER_REQUIRED: 0xc000019c,
  USER_SESSION_DELETED: 0xc0000203,
  NOT_FOUND: 0xc0000225,
  ACCOUNT_LOCKED_OUT: 0xc0000234,
  DUPLICATE_OBJECTID: 0xc000022a,
  SERVER_UNAVAILABLE: 0xc0000466,
  FILE_NOT_AVAILABLE: 0xc0000467,
  SMB_NO_PREAUTH_INTEGRITY_HASH_OVERLAP: 0xc05d0000,
} as const;

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(STATUS).map(([name, status]) => [status, `STATUS_${name}`]),
);

/** Such as `STATUS_SHARING_VIOLATION`: every status that the server answers with has a name. */
export function ntStatusName(status: number): string {
  return NAMES.get(status) ?? `0x${status.toString(16).padStart(8, "0")}`;
}

export type NtStatus = (typeof STATUS)[keyof typeof STATUS];

/** Thrown to answer a request with this status and nothing else. */
export class StatusError extends Error {
  readonly status: NtStatus;

  constructor(status: NtStatus) {
    // An expected answer: its stack is never read, and would be costly to make.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(`status 0x${status.toString(16)}`);
    Error.stackTraceLimit = limit;
    this.name = "StatusError";
    this.status = status;
  }
}
