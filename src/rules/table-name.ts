import type { FaultCode } from "../base/fault.ts";
import { TABLE_NAME_CHARS_MAX, TABLE_NAME_CHARS_MIN } from "../base/limits.ts";

const TABLE_NAME = /^[A-Za-z][A-Za-z0-9]*$/;
/** The name of the service's own list of tables. */
const RESERVED = "tables";

export const TABLE_NAME_RULE =
  `The name of a table has ${TABLE_NAME_CHARS_MIN} to ${TABLE_NAME_CHARS_MAX} letters and digits, ` +
  `begins with a letter, and is not '${RESERVED}'.`;

export function judgeTableName(name: string): FaultCode | null {
  if (name.length < TABLE_NAME_CHARS_MIN || name.length > TABLE_NAME_CHARS_MAX) {
    return "ResourceNameLength";
  }
  if (!TABLE_NAME.test(name) || name.toLowerCase() === RESERVED) return "InvalidResourceName";
  return null;
}
