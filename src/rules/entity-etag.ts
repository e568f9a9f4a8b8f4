import type { FaultCode } from "../base/fault.ts";
import type { Stamp } from "../base/stamp.ts";

/** What an update expects to find: any version of the entity, or this one. */
export type IfMatch = "*" | Stamp;

export function judgeByEtag(stored: Stamp, ifMatch: IfMatch): FaultCode | null {
  return ifMatch === "*" || ifMatch === stored ? null : "UpdateConditionNotSatisfied";
}
