import type { Clock } from "../../../base/clock.ts";
import type { MemoryBudget } from "../../../base/memory-budget.ts";
import type { Health } from "../../health.ts";
import type { Outcomes } from "../../outcome.ts";
import type { ReadMemory } from "../../read-memory.ts";
import type { SendBudget } from "../../send-budget.ts";
import type { WaitingWork } from "../../waiting-work.ts";
import type { Admin } from "./admin.ts";
import type { RestService } from "./exchange.ts";
import type { ListenerLimits } from "./limits.ts";
import type { HttpLog } from "./log.ts";
import type { SliceQuota } from "./slice-quota.ts";
import type { TlsOptions } from "./tls-settings.ts";

/** The HTTP parser: our own, or that of `node:http`. */
export const LISTENER_KINDS = ["own", "node"] as const;

export type ListenerKind = (typeof LISTENER_KINDS)[number];

export interface ListenerOptions {
  readonly kind: ListenerKind;
  readonly service: RestService;
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Null for plain HTTP. */
  readonly tls: TlsOptions | null;
  readonly clock: Clock;
  readonly limits: ListenerLimits;
  readonly log: HttpLog;
  /** Those who want the outcomes of requests. */
  readonly outcomes: Pick<Outcomes, "take">;
  /** These five are shared by all listeners of a server. */
  readonly budget: SendBudget;
  readonly slices: SliceQuota;
  readonly work: WaitingWork;
  readonly readMemory: ReadMemory;
  readonly wholeBodies: MemoryBudget;
  /** The value of the `Server` header: `Lazuli/1.2.3`. */
  readonly software: string;
  /** What `/healthz` reports. */
  health(): Health;
  /** Answers requests to the server itself; without it they go to the service. */
  readonly admin?: Admin;
}
