import { SPACE } from "../../base/keys.ts";
import type { CountedRecords } from "../shared/counted-records.ts";

/** Entities are not counted: a scan over them would take far longer than all others together. */
export const COUNTED_TABLES: readonly CountedRecords[] = [
  {
    space: SPACE.table,
    count(_, __, tally) {
      tally.add("tables");
    },
  },
];
