/** A file of the project. The path is relative to the root, with forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** A place that breaks a rule. Lines count from one. */
export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly rule: string;
  readonly message: string;
}

/** A rule looks at one file at a time. */
export type Rule = (file: SourceFile) => Finding[];

/** A rule about single lines: what to look for, where, and what to say. */
export interface LineRule {
  readonly rule: string;
  readonly pattern: RegExp;
  readonly message: string;
  readonly covers: (path: string) => boolean;
}

export function lineRule({ rule, pattern, message, covers }: LineRule): Rule {
  return ({ path, text }) => {
    if (!covers(path)) return [];
    return text
      .split("\n")
      .flatMap((line, at) => (pattern.test(line) ? [{ path, line: at + 1, rule, message }] : []));
  };
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

export function isCode(path: string): boolean {
  return /\.(tsx?|mjs|cjs)$/.test(path);
}

/** Tests, contract suites and what they share, wherever they stand. */
export function isTest(path: string): boolean {
  return path.startsWith("test/") || /\.(test|contract|fixture)\.ts$/.test(path);
}
