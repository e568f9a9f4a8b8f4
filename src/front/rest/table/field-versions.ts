import { type FieldsSince, FieldVersions } from "../field-versions.ts";
import { SERVICE_PROPERTY_FIELDS } from "../service-properties-xml.ts";
import type { TableOperationName } from "./route.ts";

/** Sources: docs/reference/versions.md. */
export const TABLE_FIELDS: readonly FieldsSince<TableOperationName>[] = [
  { since: "2013-08-15", of: ["getServiceProperties"], elements: SERVICE_PROPERTY_FIELDS },
];

export const TABLE_FIELD_VERSIONS = new FieldVersions(TABLE_FIELDS);
