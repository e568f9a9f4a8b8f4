import type { Instant } from "../../base/clock.ts";
import type { Space } from "../../base/keys.ts";
import type { Entry } from "../../store/entry.ts";
import type { MeasuredService, UsageKind } from "./usage-row.ts";

/** What one record means for the usage of space. Ids are stamps, so no two services share one. */
export type Measured =
  /** A container, queue, table or share. */
  | {
      readonly is: "place";
      readonly service: MeasuredService;
      readonly account: string;
      readonly name: string;
      readonly id: bigint;
      readonly kind: "current" | "softDeleted" | "garbage";
    }
  /** A directory, or anything else that holds objects. Null if its place holds them directly. */
  | {
      readonly is: "holder";
      readonly id: bigint;
      readonly parent: bigint;
      readonly name: string | null;
      readonly kind: UsageKind;
    }
  | {
      readonly is: "object";
      readonly parent: bigint;
      /** Null if it has none that users know. */
      readonly name: string | null;
      readonly kind: UsageKind;
      readonly bytes: number;
    };

/** How a service measures the records of one space, for a scan over all of them. */
export interface MeasuredRecords {
  readonly space: Space;
  /** Null for a record that stands for no object. */
  measure(entry: Entry, now: Instant): Measured | null;
}
