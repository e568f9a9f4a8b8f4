/** What stored objects are to their users. */
export const USAGE_KINDS = [
  "current",
  "snapshots",
  "versions",
  "softDeleted",
  "uncommitted",
  /** Out of reach already: the sweeper will remove it. */
  "garbage",
] as const;

export type UsageKind = (typeof USAGE_KINDS)[number];

/** The services that have data, as usage names them. */
export type MeasuredService = "blob" | "queue" | "table" | "file";

export interface Amount {
  readonly objects: number;
  readonly bytes: number;
}

/** Objects and bytes by their kind; a kind without objects is missing. */
export type Amounts = { readonly [kind in UsageKind]?: Amount };

/** The usage of a container, queue, table or share, or of a part of one. */
export interface UsageRow {
  readonly service: MeasuredService;
  readonly account: string;
  readonly name: string;
  /** Present if the rows are those of one place: `images/2026/`, or "" for what lies beside them. */
  readonly prefix?: string;
  readonly amounts: Amounts;
}

export interface Usage {
  readonly rows: readonly UsageRow[];
  /** Everything, and what belongs to no place any more. */
  readonly total: Amounts;
  readonly unreachable: Amounts;
}

export function bytesOf(amounts: Amounts): number {
  return Object.values(amounts).reduce((sum, { bytes }) => sum + bytes, 0);
}
