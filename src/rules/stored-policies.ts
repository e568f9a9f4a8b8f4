import type { FaultCode } from "../base/fault.ts";
import { POLICY_ID_CHARS_MAX, STORED_POLICIES_MAX } from "../base/limits.ts";
import type { StoredPolicy } from "./access.ts";

/** The letters that a stored policy of a container may grant. */
export const CONTAINER_LETTERS = "racwdxyltfmeopi";
/** Those of a queue. */
export const QUEUE_LETTERS = "raup";
/** Those of a share. */
export const SHARE_LETTERS = "rcwdl";

/** What a set of stored policies may be; `letters` are those that mean something on the resource. */
export function judgePolicies(
  policies: readonly StoredPolicy[],
  letters: string,
): FaultCode | null {
  if (policies.length > STORED_POLICIES_MAX) return "InvalidXmlDocument";
  const ids = new Set<string>();
  for (const policy of policies) {
    if (policy.id.length < 1 || policy.id.length > POLICY_ID_CHARS_MAX)
      return "InvalidXmlNodeValue";
    if (ids.has(policy.id)) return "InvalidXmlNodeValue";
    ids.add(policy.id);
    for (const letter of policy.letters ?? "") {
      if (!letters.includes(letter)) return "InvalidXmlNodeValue";
    }
  }
  return null;
}
