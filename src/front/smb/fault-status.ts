import type { FaultCode } from "../../base/fault.ts";
import { type NtStatus, STATUS } from "./nt-status.ts";

/**
 * How SMB spells what services refuse. Codes that no operation behind SMB has are left out: one of
 * them showing up here is a bug.
 */
const STATUS_OF_FAULT: Partial<Record<FaultCode, NtStatus>> = {
  InsufficientStorage: STATUS.DISK_FULL,
  InvalidInput: STATUS.INVALID_PARAMETER,
  InvalidResourceName: STATUS.OBJECT_NAME_INVALID,
  OutOfRangeInput: STATUS.INVALID_PARAMETER,
  ResourceAlreadyExists: STATUS.OBJECT_NAME_COLLISION,
  ResourceNotFound: STATUS.OBJECT_NAME_NOT_FOUND,
  ServerBusy: STATUS.INSUFFICIENT_RESOURCES,
};

/** Null for a code that SMB has no word for. */
export function statusOfFault(code: FaultCode): NtStatus | null {
  return STATUS_OF_FAULT[code] ?? null;
}
