import type { FaultCode } from "../base/fault.ts";
import { judgeDashedName } from "./dashed-name.ts";

/** What only the service writes, where it has one; who reads it finds that it is not there. */
const CHANGE_FEED = "$blobchangefeed";

export const LOGS_CONTAINER = "$logs";

/** Containers that the service itself gives a meaning. */
const SPECIAL_NAMES = ["$root", "$web", LOGS_CONTAINER, CHANGE_FEED];

export function judgeContainerName(name: string): FaultCode | null {
  return SPECIAL_NAMES.includes(name) ? null : judgeDashedName(name);
}

export function judgeNewContainerName(name: string): FaultCode | null {
  return name === CHANGE_FEED ? "InvalidResourceName" : judgeContainerName(name);
}

/** Listed only for who asks for system containers. */
export function isSystemContainer(name: string): boolean {
  return name === LOGS_CONTAINER || name === CHANGE_FEED;
}
