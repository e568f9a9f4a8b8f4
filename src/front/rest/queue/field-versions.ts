import { type FieldsSince, FieldVersions } from "../field-versions.ts";
import { SERVICE_PROPERTY_FIELDS } from "../service-properties-xml.ts";
import type { QueueOperationName } from "./route.ts";

/** Sources: docs/reference/versions.md. */
export const QUEUE_FIELDS: readonly FieldsSince<QueueOperationName>[] = [
  { since: "2013-08-15", of: ["getServiceProperties"], elements: SERVICE_PROPERTY_FIELDS },
];

export const QUEUE_FIELD_VERSIONS = new FieldVersions(QUEUE_FIELDS);
