import { Fault, type FaultCode } from "../../../base/fault.ts";
import type { SourceRole } from "../../../rules/conditions.ts";
import { REST_FAULTS } from "../fault-status.ts";

/** Faults about the request itself, which are reported unchanged. */
const REQUEST_FAULTS: ReadonlySet<FaultCode> = new Set<FaultCode>([
  "BlobArchived",
  "BlobBeingRehydrated",
  "CopyAcrossAccountsNotSupported",
  "InvalidHeaderValue",
  "InvalidRange",
  "InvalidSourceBlobType",
  "MultipleConditionHeadersNotSupported",
  "SourceConditionNotMet",
]);

const BY_STATUS: Readonly<Record<number, FaultCode>> = {
  304: "CopySourceNotModified",
  400: "CopySourceInvalid",
  401: "CopySourceUnauthorized",
  403: "CopySourceForbidden",
  404: "CopySourceNotFound",
  409: "CopySourceInConflict",
  412: "CopySourceConditionNotMet",
};

/** Converts a fault of a source on this server to the fault that the copying client gets. */
export function cannotVerify(fault: Fault, role: SourceRole): Fault {
  if (REQUEST_FAULTS.has(fault.code)) return fault;
  // Tag conditions on a copied source have their own message.
  if (fault.code === "ConditionNotMet" && role === "copied") return fault;
  const { status, code, message } = REST_FAULTS[fault.code];
  return cannotVerifyAnswer(status, code, message);
}

/**
 * Makes the fault for a source that refused, here or elsewhere. Its message repeats the source's.
 */
export function cannotVerifyAnswer(status: number, code: string, message: string): Fault {
  const detail = {
    CopySourceStatusCode: String(status),
    CopySourceErrorCode: code,
    CopySourceErrorMessage: message,
  };
  return new Fault(BY_STATUS[status] ?? "CannotVerifyCopySource", detail, message || null);
}
