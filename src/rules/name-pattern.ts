import type { FaultCode } from "../base/fault.ts";
import { foldCase } from "../base/fold-case.ts";
import { FILE_NAME_CHARS_MAX } from "../base/limits.ts";

/** Longest pattern: signs that match nothing may stand between those of a name. */
const PATTERN_CHARS_MAX = 2 * FILE_NAME_CHARS_MAX;

export function judgePattern(pattern: string): FaultCode | null {
  return pattern.length > PATTERN_CHARS_MAX ? "InvalidResourceName" : null;
}

/** For each position in a name, 1 if the pattern so far can match up to it. */
type Places = Uint8Array;

/**
 * Whether a name matches a pattern: `*` is any text, `?` one character. Clients write three more
 * for DOS: `<` is any text up to the last dot, `>` one character or none before a dot or the end,
 * `"` a dot or the end. The cost is the product of the two lengths.
 */
export function matchesPattern(name: string, pattern: string): boolean {
  if (pattern === "*") return true;
  const text = foldCase(name);
  const lastDot = text.lastIndexOf(".");
  let places: Places = new Uint8Array(text.length + 1);
  places[0] = 1;
  for (const sign of foldCase(pattern)) {
    places = advance(text, lastDot, sign, places);
    if (!places.includes(1)) return false;
  }
  return places[text.length] === 1;
}

function advance(text: string, lastDot: number, sign: string, places: Places): Places {
  if (sign === "*") return onwards(places, text.length);
  if (sign === "<") return onwards(places, lastDot < 0 ? text.length : lastDot + 1);
  const reached = new Uint8Array(places.length);
  for (let at = 0; at <= text.length; at++) {
    if (places[at] === 0) continue;
    const to = step(text, at, sign);
    if (to !== null) reached[to] = 1;
  }
  return reached;
}

/** The position that one sign leads to; null if it does not match. */
function step(text: string, at: number, sign: string): number | null {
  const isEnd = at === text.length;
  switch (sign) {
    case "?":
      return isEnd ? null : at + 1;
    case ">":
      return isEnd || text[at] === "." ? at : at + 1;
    case '"':
      if (isEnd) return at;
      return text[at] === "." ? at + 1 : null;
    default:
      return text.startsWith(sign, at) ? at + sign.length : null;
  }
}

/** Marks all positions from the first marked one up to a limit; those after it are unchanged. */
function onwards(places: Places, limit: number): Places {
  const first = places.indexOf(1);
  return places.slice().fill(1, first, Math.max(first, limit + 1));
}
