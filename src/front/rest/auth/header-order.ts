/**
 * The order in which the service sorts `x-ms-` headers for signing. Names compare by their
 * characters in the order below, ignoring hyphens and apostrophes. If two names are then equal, a
 * hyphen or apostrophe sorts after its absence.
 */
const ORDER = "!#$%&*.^_`|~+0123456789abcdefghijklmnopqrstuvwxyz";
const SKIPPED = "'-";

const WEIGHTS = new Uint8Array(128);
for (let at = 0; at < ORDER.length; at++) WEIGHTS[ORDER.charCodeAt(at)] = at + 1;

/** Compares two names in lower case. Returns 0 only for identical names. */
export function compareHeaderNames(left: string, right: string): number {
  let i = 0;
  let j = 0;
  for (;;) {
    const a = weightAt(left, i);
    const b = weightAt(right, j);
    if (a === 0 && i < left.length) i++;
    else if (b === 0 && j < right.length) j++;
    else if (a !== b) return a - b;
    else if (i >= left.length) return compareSkipped(left, right);
    else {
      i++;
      j++;
    }
  }
}

export function compareOrdinally(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function compareSkipped(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const a = SKIPPED.indexOf(left.charAt(at));
    const b = SKIPPED.indexOf(right.charAt(at));
    if (a !== b) return a - b;
  }
  return left.length - right.length || compareOrdinally(left, right);
}

/** Returns 0 for skipped characters and after the end. */
function weightAt(name: string, at: number): number {
  return at < name.length ? (WEIGHTS[name.charCodeAt(at)] ?? 0) : 0;
}
