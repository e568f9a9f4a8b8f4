import type { BlobConditions } from "../../../rules/conditions.ts";
import type { TagExpression } from "../../../rules/tag-expression.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { conditionsOf, invalidHeader } from "../request-headers.ts";
import { parseTagExpression } from "./parse-tag-expression.ts";

/** Reads the four standard conditions, whose names may have a prefix, and `x-ms-if-tags`. */
export function blobConditionsOf(
  headers: RequestHeaders,
  prefix = "",
  ifTags = "x-ms-if-tags",
): BlobConditions {
  const four = conditionsOf(headers, prefix);
  return {
    ifMatch: four.ifMatch,
    ifNoneMatch: four.ifNoneMatch,
    ifModifiedSinceMs: four.ifModifiedSinceMs,
    ifUnmodifiedSinceMs: four.ifUnmodifiedSinceMs,
    ifTags: ifTagsOf(headers, ifTags),
  };
}

function ifTagsOf(headers: RequestHeaders, name: string): TagExpression | null {
  const value = headers.get(name);
  if (value === undefined || value === "") return null;
  return parseTagExpression(value, (reason) => invalidHeader(name, value, reason));
}
