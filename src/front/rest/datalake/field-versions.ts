import { FieldVersions } from "../field-versions.ts";
import type { DataLakeOperationName } from "./route.ts";

/** Sources: docs/reference/versions.md. */
export const DATALAKE_FIELD_VERSIONS = new FieldVersions<DataLakeOperationName>([
  { since: "2019-02-02", of: "all", headers: ["x-ms-content-crc64"] },
]);
