import type { FaultCode } from "../base/fault.ts";
import { judgeDashedName } from "./dashed-name.ts";

/** Only the service may write it, if change feed is on; to readers it does not exist. */
const CHANGE_FEED = "$blobchangefeed";

export const LOGS_CONTAINER = "$logs";

/** Containers to which the service gives a meaning. */
const SPECIAL_NAMES = ["$root", "$web", LOGS_CONTAINER, CHANGE_FEED];

export function judgeContainerName(name: string): FaultCode | null {
  return SPECIAL_NAMES.includes(name) ? null : judgeDashedName(name);
}

export function judgeNewContainerName(name: string): FaultCode | null {
  return name === CHANGE_FEED ? "InvalidResourceName" : judgeContainerName(name);
}

/** System containers are listed only on request. */
export function isSystemContainer(name: string): boolean {
  return name === LOGS_CONTAINER || name === CHANGE_FEED;
}
