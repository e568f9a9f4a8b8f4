import type { FaultCode } from "../base/fault.ts";
import { BLOB_NAME_CHARS_MAX, BLOB_NAME_SEGMENTS_MAX, PATH_LEVELS_MAX } from "../base/limits.ts";

/** Names are stored as sent. A name is refused only if no client could address it again. */
export function judgeBlobName(name: string): FaultCode | null {
  if (name.length < 1 || name.length > BLOB_NAME_CHARS_MAX) return "InvalidUri";
  let segments = 1;
  for (let at = 0; at < name.length; at++) {
    const unit = name.charCodeAt(at);
    if (unit === 0x2f) segments++;
    else if (isForbidden(unit)) return "InvalidResourceName";
  }
  return segments > BLOB_NAME_SEGMENTS_MAX ? "InvalidUri" : null;
}

/** Judges the depth of a path in a hierarchical container: that of the file or directory itself. */
export function judgeDepth(levels: number): FaultCode | null {
  return levels > PATH_LEVELS_MAX ? "InvalidUri" : null;
}

/** Control characters (C0, DEL, C1). Non-characters are valid: the service lists them encoded. */
function isForbidden(unit: number): boolean {
  return unit < 0x20 || (unit >= 0x7f && unit <= 0x9f);
}
