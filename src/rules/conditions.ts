import type { Instant } from "../base/clock.ts";
import type { FaultCode } from "../base/fault.ts";
import { etagOf, type Stamp } from "../base/stamp.ts";
import type { TagExpression } from "./tag-expression.ts";

/** The four standard conditional headers of a request. ETags are without quotes. */
export interface Conditions {
  readonly ifMatch: readonly string[] | null;
  readonly ifNoneMatch: readonly string[] | null;
  readonly ifModifiedSinceMs: Instant | null;
  readonly ifUnmodifiedSinceMs: Instant | null;
}

/** Conditions on a blob, which include its tags. */
export interface BlobConditions extends Conditions {
  readonly ifTags: TagExpression | null;
}

export const NO_CONDITIONS: BlobConditions = {
  ifMatch: null,
  ifNoneMatch: null,
  ifModifiedSinceMs: null,
  ifUnmodifiedSinceMs: null,
  ifTags: null,
};

/** Anything with an ETag. */
export interface Versioned {
  readonly etag: Stamp;
  readonly modifiedMs: Instant;
}

/**
 * A read passes if If-Match and If-Unmodified-Since hold and, of If-None-Match and
 * If-Modified-Since, one that is present holds. The first two fail with 412, the others with 304.
 */
export function judgeReadByConditions(found: Versioned, asked: Conditions): FaultCode | null {
  const { ifMatch, ifNoneMatch, ifModifiedSinceMs, ifUnmodifiedSinceMs } = asked;
  if (ifNoneMatch?.includes("*")) return "UnsatisfiableCondition";
  if (ifMatch !== null && !matches(found, ifMatch)) return "ConditionNotMet";
  if (ifUnmodifiedSinceMs !== null && modifiedAfter(found, ifUnmodifiedSinceMs)) {
    return "ConditionNotMet";
  }
  if (ifNoneMatch === null && ifModifiedSinceMs === null) return null;
  if (ifNoneMatch !== null && !matches(found, ifNoneMatch)) return null;
  if (ifModifiedSinceMs !== null && modifiedAfter(found, ifModifiedSinceMs)) return null;
  return "NotModified";
}

/**
 * A write may carry one header, If-None-Match with If-Modified-Since, or If-Match with
 * If-Unmodified-Since; of a pair only the ETag decides. On something that does not exist, dates
 * pass, If-None-Match holds and If-Match fails.
 */
export function judgeWriteByConditions(
  found: Versioned | null,
  asked: Conditions,
): FaultCode | null {
  const { ifMatch, ifNoneMatch, ifModifiedSinceMs, ifUnmodifiedSinceMs } = asked;
  const malformed = judgeCombination(asked);
  if (malformed !== null) return malformed;
  if (ifMatch !== null) return found && matches(found, ifMatch) ? null : "ConditionNotMet";
  if (found === null) return null;
  if (ifNoneMatch !== null) {
    // On updates the service ignores `*`: it is a condition for creating (see the next function).
    return ifNoneMatch[0] !== "*" && matches(found, ifNoneMatch) ? "ConditionNotMet" : null;
  }
  if (ifModifiedSinceMs !== null && !modifiedAfter(found, ifModifiedSinceMs)) {
    return "ConditionNotMet";
  }
  if (ifUnmodifiedSinceMs !== null && modifiedAfter(found, ifUnmodifiedSinceMs)) {
    return "ConditionNotMet";
  }
  return null;
}

/**
 * Judges a write that creates: like any write, but `If-None-Match: *` means "only if there is none
 * yet".
 */
export function judgeCreateByConditions(
  found: Versioned | null,
  asked: Conditions,
): FaultCode | null {
  const refused = judgeWriteByConditions(found, asked);
  if (refused === null && found !== null && asked.ifNoneMatch?.[0] === "*") {
    return "BlobAlreadyExists";
  }
  return refused;
}

/**
 * The use of a source: an object is `copied` as a whole, or some of its bytes are `read` and
 * written to another one.
 */
export type SourceRole = "copied" | "read";

/** Judges a source that is read like any read, and one that is copied like a write. */
export function judgeSourceByConditions(
  found: Versioned,
  asked: Conditions,
  role: SourceRole,
): FaultCode | null {
  if (role === "read") return judgeReadByConditions(found, asked);
  const refused = judgeWriteByConditions(found, asked);
  return refused === "ConditionNotMet" ? "SourceConditionNotMet" : refused;
}

/** Judges the target of Put Blob From URL: ETags as for copies, dates as for other writes. */
export function judgeUploadByConditions(
  found: Versioned | null,
  asked: Conditions,
): FaultCode | null {
  const namesEtag = asked.ifMatch !== null || asked.ifNoneMatch !== null;
  return (namesEtag ? judgeTargetByConditions : judgeCreateByConditions)(found, asked);
}

/** Judges the target of a copy like a write that creates, with fault codes for targets. */
export function judgeTargetByConditions(
  found: Versioned | null,
  asked: Conditions,
): FaultCode | null {
  const refused = judgeCreateByConditions(found, asked);
  return refused === "ConditionNotMet" ? "TargetConditionNotMet" : refused;
}

function judgeCombination(asked: Conditions): FaultCode | null {
  const match = asked.ifMatch !== null;
  const noneMatch = asked.ifNoneMatch !== null;
  const modified = asked.ifModifiedSinceMs !== null;
  const unmodified = asked.ifUnmodifiedSinceMs !== null;
  const pairs = (match && noneMatch) || (modified && unmodified);
  if (pairs || (match && modified) || (noneMatch && unmodified)) {
    return "MultipleConditionHeadersNotSupported";
  }
  if ((asked.ifMatch?.length ?? 1) > 1 || (asked.ifNoneMatch?.length ?? 1) > 1) {
    return "MultipleConditionHeadersNotSupported";
  }
  return null;
}

function matches(found: Versioned, etags: readonly string[]): boolean {
  if (etags[0] === "*") return true;
  const current = etagOf(found.etag);
  return etags.some((etag) => etag === current);
}

/** Dates in headers have whole seconds, so stored times are compared by the second. */
function modifiedAfter(found: Versioned, dateMs: Instant): boolean {
  return Math.floor(found.modifiedMs / 1000) > Math.floor(dateMs / 1000);
}
