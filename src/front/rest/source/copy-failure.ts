import type { Fault } from "../../../base/fault.ts";
import { REST_FAULTS } from "../fault-status.ts";
import { faultOfError } from "../http/fault-of-error.ts";

/** Others may call an error what they like, but not everything can stand in a header. */
const CODE = /^[A-Za-z]{1,100}$/;

/** Why a copy failed, as clients expect it: a status, a code, and a sentence in quotes. */
export function copyFailure(error: unknown): string {
  const { status, code } = spelled(faultOfError(error));
  return `${status} ${code} "Copy failed when reading the source."`;
}

/** In the words of the source's server, where it has any. */
function spelled({ code, detail }: Fault): { status: number | string; code: string } {
  if (code === "SourceConditionNotMet") return REST_FAULTS.ConditionNotMet;
  const ours = REST_FAULTS[code];
  const theirs = detail.CopySourceErrorCode ?? "";
  return {
    status: detail.CopySourceStatusCode ?? ours.status,
    code: CODE.test(theirs) ? theirs : ours.code,
  };
}
