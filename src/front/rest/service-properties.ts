import { rfc1123 } from "../../base/time-text.ts";
import type { AccountContext, ServiceAsked } from "../../service/account/context.ts";
import {
  getServiceProperties,
  type ServicePropertiesFound,
} from "../../service/account/get-service-properties.ts";
import { getServiceStats } from "../../service/account/get-service-stats.ts";
import {
  type SetServiceProperties,
  setServiceProperties,
} from "../../service/account/set-service-properties.ts";
import { createLogsContainer } from "../../service/blob/create-logs-container.ts";
import type { Transaction } from "../../store/store.ts";
import type { RestRequest, RestResponse } from "./http/exchange.ts";
import { invalidQuery } from "./request-query.ts";
import { XML_CONTENT } from "./response-headers.ts";
import {
  SERVICE_PROPERTIES_BYTES_MAX,
  servicePropertiesOf,
  servicePropertiesXml,
} from "./service-properties-xml.ts";
import type { StorageCall } from "./storage-rest-service.ts";
import type { XmlElement } from "./xml/parse-xml.ts";
import { XML_DECLARATION } from "./xml/write-xml.ts";
import { readXmlBody } from "./xml-body.ts";
import { requireOnlyChildren, requireRoot } from "./xml-nodes.ts";

/** Operations on a service as a whole. Every service answers them in the same way. */

const SECONDARY_ONLY = "Ask the secondary endpoint: add -secondary to the account's name.";
const SHARED_ELEMENTS = ["Logging", "HourMetrics", "MinuteMetrics", "Cors"];

/** Elements that one service has besides the shared ones. */
export interface OwnElements {
  readonly names: readonly string[];
  /** Returns the changes that the elements ask for. Throws if one is not supported. */
  changes(root: XmlElement): Pick<SetServiceProperties, "deleteRetention">;
}

export const NO_OWN_ELEMENTS: OwnElements = { names: [], changes: () => ({}) };

/** Get Service Properties. `ownXml` holds the service's own elements. */
export async function answerServiceProperties(
  context: AccountContext,
  asked: ServiceAsked,
  ownXml: (found: ServicePropertiesFound) => string = () => "",
): Promise<RestResponse> {
  const found = await getServiceProperties(context, asked);
  const body = servicePropertiesXml(found.properties) + ownXml(found);
  return {
    status: 200,
    headers: [...XML_CONTENT],
    body: `${XML_DECLARATION}<StorageServiceProperties>${body}</StorageServiceProperties>`,
  };
}

export async function takeServiceProperties(
  context: AccountContext,
  asked: ServiceAsked,
  request: RestRequest,
  own: OwnElements,
): Promise<RestResponse> {
  const body = await readXmlBody(request, SERVICE_PROPERTIES_BYTES_MAX);
  const root = requireRoot(body, "StorageServiceProperties");
  requireOnlyChildren(root, [...SHARED_ELEMENTS, ...own.names]);
  const changes = servicePropertiesOf(root);
  // All services log into the same container.
  const onLogging = (tx: Transaction) => createLogsContainer(tx, asked.at.account);
  await setServiceProperties(context, { ...asked, changes, ...own.changes(root), onLogging });
  return { status: 202, headers: [], body: null };
}

/** Get Service Stats. The service offers it on the secondary endpoint only. */
export async function answerServiceStats(
  context: AccountContext,
  asked: ServiceAsked,
  { isSecondary }: Pick<StorageCall<unknown>, "isSecondary">,
): Promise<RestResponse> {
  const { lastSyncMs } = await getServiceStats(context, asked);
  if (!isSecondary) throw invalidQuery("comp", "stats", SECONDARY_ONLY);
  const sync = `<LastSyncTime>${rfc1123(lastSyncMs)}</LastSyncTime>`;
  const replication = `<GeoReplication><Status>live</Status>${sync}</GeoReplication>`;
  return {
    status: 200,
    headers: [...XML_CONTENT],
    body: `${XML_DECLARATION}<StorageServiceStats>${replication}</StorageServiceStats>`,
  };
}
