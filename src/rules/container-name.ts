import type { FaultCode } from "../base/fault.ts";
import { refuseDashedName } from "./dashed-name.ts";

/** Containers that the service itself gives a meaning. */
const SPECIAL_NAMES = ["$root", "$web", "$logs", "$blobchangefeed"];

export function refuseContainerName(name: string): FaultCode | null {
  return SPECIAL_NAMES.includes(name) ? null : refuseDashedName(name);
}

/** Listed only for who asks for system containers. */
export function isSystemContainer(name: string): boolean {
  return name === "$logs" || name === "$blobchangefeed";
}
