import type { Instant } from "../../base/clock.ts";
import { refuse } from "../../base/fault.ts";
import { judgeByAccess } from "../../rules/access.ts";
import { SERVICE_NEEDS } from "../../rules/service-needs.ts";
import type { AccountContext, ServiceAsked } from "./context.ts";

export interface ServiceStats {
  /** The secondary is the primary by another name, so it is never behind. */
  readonly lastSyncMs: Instant;
}

export async function getServiceStats(
  context: AccountContext,
  asked: ServiceAsked,
): Promise<ServiceStats> {
  return context.store.read((view) => {
    refuse(judgeByAccess(asked.access, SERVICE_NEEDS.getServiceStats, null, view.now()));
    return { lastSyncMs: view.now() };
  });
}
