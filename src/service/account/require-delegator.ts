import type { Instant } from "../../base/clock.ts";
import { refuse } from "../../base/fault.ts";
import { type Access, judgeByAccess } from "../../rules/access.ts";
import { USER_DELEGATION_KEY_NEED } from "../../rules/service-needs.ts";

/** Refuses callers that may not have a user delegation key. */
export function requireDelegator(access: Access, now: Instant): void {
  refuse(judgeByAccess(access, USER_DELEGATION_KEY_NEED, null, now));
}
