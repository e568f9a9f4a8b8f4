import type { FaultCode } from "../base/fault.ts";
import type { Tags } from "./tags.ts";

/** The condition of `x-ms-if-tags` on a blob's tags. */
export type TagExpression =
  | TagComparison
  | { readonly kind: "all" | "any"; readonly terms: readonly TagExpression[] };

export interface TagComparison {
  readonly kind: "compare";
  readonly tag: string;
  readonly operator: TagOperator;
  readonly value: string;
}

export type TagOperator = "=" | "<>" | ">" | ">=" | "<" | "<=";

/** The query of Find Blobs by Tags: all of these terms, in one container if it names one. */
export interface TagQuery {
  readonly container: string | null;
  readonly comparisons: readonly TagComparison[];
}

/** A blob that does not exist has no tags. */
export function judgeByTags(tags: Tags, asked: TagExpression | null): FaultCode | null {
  return asked === null || matchesTags(tags, asked) ? null : "ConditionNotMet";
}

export function matchesTags(tags: Tags, asked: TagExpression): boolean {
  switch (asked.kind) {
    case "all":
      return asked.terms.every((term) => matchesTags(tags, term));
    case "any":
      return asked.terms.some((term) => matchesTags(tags, term));
    case "compare":
      return compares(tags.find(([name]) => name === asked.tag)?.[1], asked);
  }
}

/** Values compare as text. A missing tag meets no comparison, not even <>. */
function compares(found: string | undefined, { operator, value }: TagComparison): boolean {
  if (found === undefined) return false;
  switch (operator) {
    case "=":
      return found === value;
    case "<>":
      return found !== value;
    case ">":
      return found > value;
    case ">=":
      return found >= value;
    case "<":
      return found < value;
    case "<=":
      return found <= value;
  }
}
