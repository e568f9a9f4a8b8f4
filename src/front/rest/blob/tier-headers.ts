import { Fault } from "../../../base/fault.ts";
import { rfc1123 } from "../../../base/time-text.ts";
import {
  REHYDRATE_PRIORITIES,
  type RehydratePriority,
  TIERS,
  type Tier,
  type TierStatus,
} from "../../../rules/tier.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { invalidHeader, requireHeader } from "../request-headers.ts";
import { element } from "../xml/write-xml.ts";
import type { BlobCall } from "./call.ts";

const COLD_SINCE = "2021-12-02";
/** Tiers of page blobs in premium accounts, which this server does not have. */
const PREMIUM = /^P(?:4|6|10|15|20|30|40|50|60|70|80)$/;
const NAME = "x-ms-access-tier";

/** `x-ms-access-tier` of a block blob; null if it is not sent. */
export function tierOf(call: BlobCall): Tier | null {
  const value = call.request.headers.get(NAME);
  if (value === undefined || value === "") return null;
  const tier = parseTier(value, call.version);
  if (tier !== null) return tier;
  throw new Fault("InvalidBlobTier", { Reason: `${value} is a tier of premium page blobs.` });
}

/** The tier for a blob whose type is not known yet; null for a tier of premium accounts. */
export function requireTier({ request, version }: BlobCall): Tier | null {
  return parseTier(requireHeader(request.headers, NAME), version);
}

function parseTier(value: string, version: string): Tier | null {
  const tier = TIERS.find((one) => one.toLowerCase() === value.toLowerCase());
  if (tier !== undefined && (tier !== "Cold" || version >= COLD_SINCE)) return tier;
  if (PREMIUM.test(value.toUpperCase())) return null;
  throw invalidHeader(NAME, value, `It must be one of ${TIERS.join(", ")}.`);
}

export function rehydratePriorityOf({ request }: BlobCall): RehydratePriority | null {
  const name = "x-ms-rehydrate-priority";
  const value = request.headers.get(name);
  if (value === undefined || value === "") return null;
  const found = REHYDRATE_PRIORITIES.find((one) => one.toLowerCase() === value.toLowerCase());
  if (found === undefined) throw invalidHeader(name, value, "It must be Standard or High.");
  return found;
}

/** Page and append blobs have no tiers in standard accounts. */
export function requireNoTier(headers: RequestHeaders, type: string): void {
  if (headers.get(NAME) === undefined) return;
  throw new Fault("AccessTierNotSupportedForBlobType", { HeaderName: NAME, BlobType: type });
}

export function tierHeaders({ tier, changedMs, rehydration }: TierStatus): string[] {
  const headers = [NAME, tier];
  if (changedMs === null) headers.push("x-ms-access-tier-inferred", "true");
  else headers.push("x-ms-access-tier-change-time", rfc1123(changedMs));
  if (rehydration !== null) {
    headers.push("x-ms-archive-status", archiveStatus(rehydration.to));
    headers.push("x-ms-rehydrate-priority", rehydration.priority);
  }
  return headers;
}

export function tierElements({ tier, changedMs, rehydration }: TierStatus): string {
  const set =
    changedMs === null
      ? element("AccessTierInferred", "true")
      : element("AccessTierChangeTime", rfc1123(changedMs));
  const moving =
    rehydration === null
      ? ""
      : element("ArchiveStatus", archiveStatus(rehydration.to)) +
        element("RehydratePriority", rehydration.priority);
  return element("AccessTier", tier) + set + moving;
}

export function archiveStatus(to: Tier): string {
  return `rehydrate-pending-to-${to.toLowerCase()}`;
}
