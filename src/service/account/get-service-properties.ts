import { refuse } from "../../base/fault.ts";
import { refuseByAccess } from "../../rules/access.ts";
import { SERVICE_NEEDS } from "../../rules/service-needs.ts";
import type { AccountContext, ServiceAddress, ServiceAsked } from "./context.ts";
import { readProperties, type ServiceProperties } from "./records.ts";

export async function getServiceProperties(
  context: AccountContext,
  asked: ServiceAsked,
): Promise<ServiceProperties> {
  return context.store.read((view) => {
    refuse(refuseByAccess(asked.access, SERVICE_NEEDS.getServiceProperties, null, view.now()));
    return readProperties(view, asked.at);
  });
}

/** What decides on requests before it is known who asks: CORS rules and the default version. */
export async function knownServiceProperties(
  context: AccountContext,
  at: ServiceAddress,
): Promise<ServiceProperties> {
  return context.store.read((view) => readProperties(view, at));
}
