import { refuse } from "../../base/fault.ts";
import { judgeByAccess } from "../../rules/access.ts";
import { SERVICE_NEEDS } from "../../rules/service-needs.ts";
import { type DeleteRetention, readDeleteRetention } from "../shared/delete-retention.ts";
import type { AccountContext, ServiceAddress, ServiceAsked } from "./context.ts";
import { readProperties, type ServiceProperties } from "./records.ts";

export interface ServicePropertiesFound {
  readonly properties: ServiceProperties;
  /** Null if soft delete is off. */
  readonly deleteRetention: DeleteRetention | null;
}

export async function getServiceProperties(
  context: AccountContext,
  asked: ServiceAsked,
): Promise<ServicePropertiesFound> {
  return context.store.read((view) => {
    refuse(judgeByAccess(asked.access, SERVICE_NEEDS.getServiceProperties, null, view.now()));
    return {
      properties: readProperties(view, asked.at),
      deleteRetention: readDeleteRetention(view, asked.at.account, asked.at.service),
    };
  });
}

/** The properties needed before the caller is known: CORS rules and the default version. */
export async function knownServiceProperties(
  context: AccountContext,
  at: ServiceAddress,
): Promise<ServiceProperties> {
  return context.store.read((view) => readProperties(view, at));
}
