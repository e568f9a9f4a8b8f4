import { lineAt } from "./finding.ts";

const IMPORTS =
  /^\s*(?:import|export)\s+(?<what>(?:type\s+)?[\w*{][^;"']*?)\s*from\s*["'](?<from>[^"']+)["']|(?<!["'])\bimport\s*\(?\s*["'](?<bare>[^"']+)["']/gm;

export interface Import {
  readonly line: number;
  /** What stands between `import` and `from`; "" if nothing is named. */
  readonly what: string;
  readonly from: string;
}

/** Every import of a file, also of types, and also at run time. */
export function importsOf(text: string): Import[] {
  return [...text.matchAll(IMPORTS)].map((match) => {
    const { what = "", from, bare } = match.groups as Record<string, string | undefined>;
    const blanks = /^\s*/.exec(match[0])?.[0].length ?? 0;
    return { line: lineAt(text, match.index + blanks), what, from: from ?? bare ?? "" };
  });
}
