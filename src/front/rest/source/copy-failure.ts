import type { Fault } from "../../../base/fault.ts";
import { REST_FAULTS } from "../fault-status.ts";
import { faultOfError } from "../http/fault-of-error.ts";

/** Another server's error code must be safe in a header. */
const CODE = /^[A-Za-z]{1,100}$/;

/** Formats why a copy failed, as clients expect it: a status, a code, and a sentence in quotes. */
export function copyFailure(error: unknown): string {
  const { status, code } = statusAndCodeOf(faultOfError(error));
  return `${status} ${code} "Copy failed when reading the source."`;
}

/** Returns the status and code of the source's server if it sent them. */
function statusAndCodeOf({ code, detail }: Fault): { status: number | string; code: string } {
  if (code === "SourceConditionNotMet") return REST_FAULTS.ConditionNotMet;
  const ours = REST_FAULTS[code];
  const theirs = detail.CopySourceErrorCode ?? "";
  return {
    status: detail.CopySourceStatusCode ?? ours.status,
    code: CODE.test(theirs) ? theirs : ours.code,
  };
}
