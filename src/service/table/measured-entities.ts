import { KeyReader, SPACE } from "../../base/keys.ts";
import type { MeasuredRecords } from "../shared/measured-records.ts";
import { decodeTable } from "./records.ts";

export const MEASURED_ENTITIES: readonly MeasuredRecords[] = [
  {
    space: SPACE.table,
    measure({ key, value }) {
      const account = new KeyReader(key).text();
      const { id, name } = decodeTable(value);
      return { is: "place", service: "table", account, name, id, kind: "current" };
    },
  },
  {
    space: SPACE.entity,
    /** Its size is that of its record, keys included: decoding properties would take far longer. */
    measure({ key, value }) {
      const parent = new KeyReader(key).u64();
      const bytes = key.length + value.length;
      return { is: "object", parent, name: null, kind: "current", bytes };
    },
  },
];
