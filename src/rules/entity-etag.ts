import type { FaultCode } from "../base/fault.ts";
import type { Stamp } from "../base/stamp.ts";

/** The condition of an update: any version of the entity, or this one. */
export type IfMatch = "*" | Stamp;

export function judgeByEtag(stored: Stamp, ifMatch: IfMatch): FaultCode | null {
  return ifMatch === "*" || ifMatch === stored ? null : "UpdateConditionNotSatisfied";
}
