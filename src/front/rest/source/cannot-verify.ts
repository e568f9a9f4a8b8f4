import { Fault, type FaultCode } from "../../../base/fault.ts";
import type { SourceRole } from "../../../rules/conditions.ts";
import { REST_FAULTS } from "../fault-status.ts";

/** Refusals that are about the request itself, wherever they are noticed. */
const OWN_WORDS: ReadonlySet<FaultCode> = new Set<FaultCode>([
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

/** How a source on this server was refused, as who copies from it is told. */
export function cannotVerify(fault: Fault, role: SourceRole): Fault {
  if (OWN_WORDS.has(fault.code)) return fault;
  // Only the tags of a source that is copied are refused in these words.
  if (fault.code === "ConditionNotMet" && role === "copied") return fault;
  const { status, code, message } = REST_FAULTS[fault.code];
  return cannotVerifyAnswer(status, code, message);
}

/** How a source refused, here or elsewhere. The copy's own message repeats the source's. */
export function cannotVerifyAnswer(status: number, code: string, message: string): Fault {
  const detail = {
    CopySourceStatusCode: String(status),
    CopySourceErrorCode: code,
    CopySourceErrorMessage: message,
  };
  return new Fault(BY_STATUS[status] ?? "CannotVerifyCopySource", detail, message || null);
}
