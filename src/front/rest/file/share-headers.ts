import { SHARE_QUOTA_GIB_MAX } from "../../../base/limits.ts";
import { rfc1123 } from "../../../base/time-text.ts";
import type { ShareTier } from "../../../service/file/records.ts";
import type { TierStatus } from "../../../service/file/share-tier.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { invalidHeader, numberOf, requireNoHeaders } from "../request-headers.ts";
import { requireNoNfsHeaders } from "./nfs.ts";

/** Parses and formats headers of shares. */

export function quotaOf(headers: RequestHeaders): number | null {
  return numberOf(headers, "x-ms-share-quota", 1, SHARE_QUOTA_GIB_MAX);
}

const TIERS: readonly ShareTier[] = ["TransactionOptimized", "Hot", "Cool", "Premium"];

export function tierOf(headers: RequestHeaders): ShareTier | null {
  const name = "x-ms-access-tier";
  const value = headers.get(name);
  if (value === undefined || value === "") return null;
  const tier = TIERS.find((one) => one.toLowerCase() === value.toLowerCase());
  if (tier === undefined) throw invalidHeader(name, value, `It must be of: ${TIERS.join(", ")}.`);
  return tier;
}

/** Headers for provisioned shares, which this server does not have. */
const PROVISIONED = [
  "x-ms-share-paid-bursting-enabled",
  "x-ms-share-paid-bursting-max-bandwidth-mibps",
  "x-ms-share-paid-bursting-max-iops",
  "x-ms-share-provisioned-iops",
  "x-ms-share-provisioned-bandwidth-mibps",
];
const NFS = ["x-ms-root-squash", "x-ms-enable-snapshot-virtual-directory-access"];

export function requireSupportedOnShare(headers: RequestHeaders): void {
  requireNoHeaders(headers, PROVISIONED);
  requireNoNfsHeaders(headers, NFS);
  const name = "x-ms-enabled-protocols";
  const protocols = headers.get(name);
  if (protocols === undefined || protocols === "" || protocols.toUpperCase() === "SMB") return;
  throw invalidHeader(name, protocols, "This server has shares for SMB only.");
}

/** Formats the quota, for responses that create or change a share. */
export function quotaHeaders(quotaGib: number): string[] {
  return ["x-ms-share-quota", String(quotaGib)];
}

export function tierHeaders({ tier, changedMs, from }: TierStatus): string[] {
  const headers = ["x-ms-access-tier", tier, "x-ms-access-tier-change-time", rfc1123(changedMs)];
  if (from !== null) headers.push("x-ms-access-tier-transition-state", transitionText(from));
  return headers;
}

/** Formats the tier for lists. */
export function tierElements({ tier, changedMs, from }: TierStatus): string {
  const changed = `<AccessTierChangeTime>${rfc1123(changedMs)}</AccessTierChangeTime>`;
  const transition =
    from === null
      ? ""
      : `<AccessTierTransitionState>${transitionText(from)}</AccessTierTransitionState>`;
  return `<AccessTier>${tier}</AccessTier>${changed}${transition}`;
}

/** Formats a transition as `pending-from-transactionOptimized`. */
function transitionText(from: ShareTier): string {
  return `pending-from-${from.charAt(0).toLowerCase()}${from.slice(1)}`;
}
