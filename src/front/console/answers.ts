import type { Instant } from "../../base/clock.ts";
import type { Holder, HolderList } from "../../service/shared/holder.ts";
import type { Amounts, UsageRow } from "../../service/shared/usage-row.ts";
import type { ConsoleAccount, DiskUsage, Figures, SceneFacts } from "./console-facts.ts";
import type { SeenRequest } from "./seen-request.ts";

// What the API answers, where that is not a fact of the server as it is. The page imports these
// types, so nothing here may lead to types of Node.

/** `GET /api/home` */
export interface Home {
  readonly version: string;
  readonly startedMs: Instant;
  readonly urls: Readonly<Record<string, string>>;
  readonly accounts: readonly ConsoleAccount[];
  /** Whether bearer tokens are accepted. */
  readonly takesTokens: boolean;
  /** Where the data is, in words. Both only for the operator. */
  readonly place?: string;
  readonly figures?: Figures;
}

/** The client that acquired or renewed a lease last. */
export interface Leaser {
  readonly address: string;
  readonly agent: string | null;
  readonly atMs: Instant;
}

export interface ShownHolder extends Holder {
  /** Of a lease; missing if the request is not remembered. */
  readonly leasedBy?: Leaser;
}

/** `GET /api/holders` */
export interface ShownHolders extends Omit<HolderList, "holders"> {
  readonly holders: readonly ShownHolder[];
}

/** The event `requests`. */
export interface NewRequests {
  readonly requests: readonly SeenRequest[];
  /** How many more came than are sent. */
  readonly skipped: number;
}

/** `GET /api/scenes`; without a lab there are none. */
export type SceneList = LabScenes | { readonly scenes: null };

export interface LabScenes extends Pick<SceneFacts, "clientsMin" | "clientsMax"> {
  readonly scenes: ReturnType<SceneFacts["list"]>;
}

/** `GET /api/usage` */
export interface ShownUsage {
  /** The largest first. */
  readonly rows: readonly UsageRow[];
  /** Smaller ones, which have no row; null if there are none. */
  readonly others: { readonly count: number; readonly bytes: number } | null;
  /** When it was measured; null if the first time is under way. */
  readonly atMs: Instant | null;
  /** Records read so far; null if nothing is being measured. */
  readonly progress: number | null;
  /** The rest is only for the operator. */
  readonly total?: Amounts;
  readonly unreachable?: Amounts;
  /** Null without a data folder. */
  readonly disk?: DiskUsage | null;
}
