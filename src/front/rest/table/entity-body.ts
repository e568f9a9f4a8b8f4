import type { Property } from "../../../base/edm.ts";
import { inSlices, PacedBytes, PIECE_BYTES } from "../../../base/fair-queue.ts";
import { Fault } from "../../../base/fault.ts";
import { MIB } from "../../../base/limits.ts";
import type { EntityPlace } from "../../../rules/entity-plan.ts";
import type { RestRequest } from "../http/exchange.ts";
import { readWholeBody } from "../http/whole-body.ts";
import { propertyOf } from "./edm-values.ts";
import { type FlatObject, readFlatObject, readFlatObjectInSteps } from "./flat-json.ts";
import { requireJsonContent } from "./metadata-level.ts";

/** An entity of 1 MiB, as the service counts, can be longer in JSON. */
const BODY_BYTES_MAX = 4 * MIB;
const ANNOTATION = "@odata.type";

export interface EntityBody {
  /** Null if the body does not have it. */
  readonly partition: string | null;
  readonly row: string | null;
  /** Without keys, timestamp, nulls and the annotations that clients repeat from an answer. */
  readonly properties: readonly Property[];
}

export async function readJsonBody(request: RestRequest): Promise<FlatObject> {
  requireJsonContent(request.headers);
  const bytes = await readWholeBody(request, BODY_BYTES_MAX);
  if (bytes.length <= PIECE_BYTES) return readFlatObject(bytes);
  return inSlices(readFlatObjectInSteps(bytes));
}

export async function readEntityBody(request: RestRequest): Promise<EntityBody> {
  return entityOf(await readJsonBody(request));
}

/** The entity that a JSON object describes. */
export async function entityOf(members: FlatObject): Promise<EntityBody> {
  const annotations = annotationsIn(members);
  const properties: Property[] = [];
  const paced = new PacedBytes();
  for (const [name, value] of members) {
    const wait = paced.next("text" in value ? value.text.length : 0);
    if (wait !== undefined) await wait;
    if (isOfTheProtocol(name)) continue;
    const annotation = annotations?.get(name);
    const type = annotation === undefined ? null : textOf(members, annotation);
    const property = propertyOf(name, value, type);
    if (property !== null) properties.push(property);
  }
  return {
    partition: textOf(members, "PartitionKey"),
    row: textOf(members, "RowKey"),
    properties,
  };
}

/** The names of the type annotations, by property; null if there are none. */
function annotationsIn(members: FlatObject): Map<string, string> | null {
  let found: Map<string, string> | null = null;
  for (const name of members.keys()) {
    if (!name.endsWith(ANNOTATION)) continue;
    found ??= new Map();
    found.set(name.slice(0, -ANNOTATION.length), name);
  }
  return found;
}

/** The keys of an entity, from a body whose URL names none. */
export function requirePlace({ partition, row }: EntityBody): EntityPlace {
  if (partition === null || row === null) throw new Fault("PropertiesNeedValue");
  return { partition, row };
}

/** A body may repeat the keys of the URL, but not name others. */
export function requireSamePlace({ partition, row }: EntityBody, place: EntityPlace): void {
  if ((partition ?? place.partition) === place.partition && (row ?? place.row) === place.row)
    return;
  throw new Fault("InvalidInput", { Reason: "The keys in the body are not those in the URL." });
}

function isOfTheProtocol(name: string): boolean {
  switch (name) {
    case "PartitionKey":
    case "RowKey":
    case "Timestamp":
      return true;
    default:
      return name.startsWith("odata.") || name.includes("@odata.");
  }
}

/** Null if it is absent or null; anything but a text is refused. */
function textOf(members: FlatObject, name: string): string | null {
  const value = members.get(name);
  if (value === undefined || value.kind === "null") return null;
  if (value.kind !== "text") throw new Fault("InvalidValueType", { Property: name });
  return value.text;
}
