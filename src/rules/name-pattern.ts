import { foldCase } from "../base/fold-case.ts";

/**
 * Whether a name matches what a client looks for: `*` stands for anything, `?` for one character.
 * Clients write three more for the sake of DOS: `<` for anything up to the last dot, `>` for one
 * character or none before a dot or the end, `"` for a dot or the end.
 */
export function matchesPattern(name: string, pattern: string): boolean {
  if (pattern === "*") return true;
  const text = foldCase(name);
  const lastDot = text.lastIndexOf(".");
  // The places in the name that the pattern up to here may have come to.
  let places = new Set([0]);
  for (const sign of foldCase(pattern)) {
    places = advance(text, lastDot, sign, places);
    if (places.size === 0) return false;
  }
  return places.has(text.length);
}

function advance(text: string, lastDot: number, sign: string, places: Set<number>): Set<number> {
  const reached = new Set<number>();
  for (const at of places) {
    const isEnd = at === text.length;
    switch (sign) {
      case "*":
        for (let to = at; to <= text.length; to++) reached.add(to);
        break;
      case "<":
        for (let to = at; to <= Math.max(at, lastDot < 0 ? text.length : lastDot + 1); to++) {
          reached.add(to);
        }
        break;
      case "?":
        if (!isEnd) reached.add(at + 1);
        break;
      case ">":
        if (isEnd || text[at] === ".") reached.add(at);
        else reached.add(at + 1);
        break;
      case '"':
        if (isEnd) reached.add(at);
        else if (text[at] === ".") reached.add(at + 1);
        break;
      default:
        if (text.startsWith(sign, at)) reached.add(at + sign.length);
    }
  }
  return reached;
}
