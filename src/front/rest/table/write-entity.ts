import { Fault } from "../../../base/fault.ts";
import type { IfMatch } from "../../../rules/entity-etag.ts";
import type { EntityPlace } from "../../../rules/entity-plan.ts";
import type { EntityWrite, EntityWritten } from "../../../service/table/apply-write.ts";
import type { TableContext } from "../../../service/table/context.ts";
import { writeEntity } from "../../../service/table/write-entity.ts";
import type { RestRequest, RestResponse } from "../http/exchange.ts";
import { pastOf } from "../past.ts";
import { requireHeader } from "../request-headers.ts";
import { DATA_HEADERS, entitiesAskedOf, type TableCall } from "./call.ts";
import { readEntityBody, requirePlace, requireSamePlace } from "./entity-body.ts";
import { etagOfStamp, ifMatchOf } from "./entity-etag.ts";
import { EntityJson, entityPath } from "./entity-json.ts";
import { jsonContent, metadataLevelOf } from "./metadata-level.ts";
import { preferenceHeaders, preferenceOf } from "./preference.ts";
import type { TableOperationName, TableRoute } from "./route.ts";

export async function handleWriteEntity(
  context: TableContext,
  call: TableCall,
): Promise<RestResponse> {
  const write = await readEntityWrite(call.route, call.request);
  const { at, access, keyRange } = entitiesAskedOf(call);
  const written = await writeEntity(context, { at, access, keyRange, write });
  return answerEntityWrite(call, write, written);
}

export function isEntityWrite(operation: TableOperationName): operation is EntityWrite["kind"] {
  return WRITES.has(operation);
}

const WRITES: ReadonlySet<string> = new Set<EntityWrite["kind"]>([
  "insertEntity",
  "updateEntity",
  "mergeEntity",
  "insertOrReplaceEntity",
  "insertOrMergeEntity",
  "deleteEntity",
]);

/** The write that a request asks for, alone or in a batch. */
export async function readEntityWrite(
  route: TableRoute,
  request: RestRequest,
): Promise<EntityWrite> {
  const past = pastOf(request.headers);
  const write = await readWrite(route, request);
  return past === null ? write : { ...write, past: { etag: past.modified, modifiedMs: null } };
}

async function readWrite(
  { operation, place }: TableRoute,
  request: RestRequest,
): Promise<EntityWrite> {
  // Refuse before writing if the answer cannot be rendered in the requested format.
  metadataLevelOf(request);
  if (!isEntityWrite(operation)) throw new Fault("InvalidInput");
  if (operation === "insertEntity") {
    const body = await readEntityBody(request);
    return { kind: operation, place: requirePlace(body), properties: body.properties };
  }
  const at = place as EntityPlace;
  const ifMatch = ifMatchOf(request.headers);
  if (operation === "deleteEntity") {
    requireHeader(request.headers, "if-match");
    return { kind: operation, place: at, ifMatch: ifMatch as IfMatch };
  }
  const body = await readEntityBody(request);
  requireSamePlace(body, at);
  const { properties } = body;
  if (operation === "updateEntity" || operation === "mergeEntity") {
    return { kind: operation, place: at, properties, ifMatch: ifMatch as IfMatch };
  }
  return { kind: operation, place: at, properties };
}

export function answerEntityWrite(
  {
    request,
    endpoint,
    account,
    route,
  }: Pick<TableCall, "request" | "endpoint" | "account" | "route">,
  write: EntityWrite,
  written: EntityWritten,
): RestResponse {
  const headers = [...DATA_HEADERS];
  if (written === null) return { status: 204, headers, body: null };
  headers.push("ETag", etagOfStamp(written.stamp));
  if (write.kind !== "insertEntity") return { status: 204, headers, body: null };
  const preference = preferenceOf(request.headers);
  const location = endpoint + entityPath(route.table, write.place);
  headers.push(...preferenceHeaders(preference), "Location", location);
  if (preference === "return-no-content") {
    headers.push("DataServiceId", location);
    return { status: 204, headers, body: null };
  }
  const level = metadataLevelOf(request);
  const json = new EntityJson({ level, endpoint, account, table: route.table, select: null });
  headers.push(...jsonContent(level));
  const { stamp, properties } = written;
  const entity = { ...write.place, stamp, properties: properties ?? "" };
  return { status: 201, headers, body: json.one(entity) };
}
