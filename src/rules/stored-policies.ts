import type { FaultCode } from "../base/fault.ts";
import { POLICY_ID_CHARS_MAX, STORED_POLICIES_MAX } from "../base/limits.ts";
import type { StoredPolicy } from "./access.ts";

/** The letters that a stored policy of a container may grant. */
export const CONTAINER_LETTERS = "racwdxyltfmeopi";
/** The letters of a queue's policy. */
export const QUEUE_LETTERS = "raup";
/** The letters of a share's policy. */
export const SHARE_LETTERS = "rcwdl";

/** Judges a set of stored policies; `letters` are those that the resource knows. */
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
