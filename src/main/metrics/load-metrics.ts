import { labelled, type MetricSource, single } from "../../front/metrics/metric.ts";
import type { SendBudget } from "../../front/send-budget.ts";
import type { WaitingWork } from "../../front/waiting-work.ts";

/** What can be seen of the load on a server. */
export interface SeenLoad {
  readonly budget: Pick<SendBudget, "usage">;
  readonly work: Pick<WaitingWork, "requests">;
  /** Open connections, by service. */
  connections(): Iterable<readonly [service: string, connections: number]>;
  /** Bytes of buffers in use, by their purpose. */
  buffers(): Iterable<readonly [purpose: string, bytes: number]>;
}

/** Connections, requests that wait, and memory that is taken for them. */
export function loadMetrics({ budget, work, connections, buffers }: SeenLoad): MetricSource {
  const pools = (part: "taken" | "bytesMax" | "waiting") => () =>
    budget.usage().map((usage) => [usage.pool, usage[part]] as const);
  return {
    metrics: [
      labelled("gauge", "lazuli_connections", "Open connections.", "service", connections),
      single("gauge", "lazuli_requests_waiting", "REST requests that have no answer yet.", () => {
        return work.requests;
      }),
      labelled(
        "gauge",
        "lazuli_send_budget_bytes",
        "Memory taken by answers on their way: in large or small parts, unsent, being rendered, or of SMB.",
        "pool",
        pools("taken"),
      ),
      labelled(
        "gauge",
        "lazuli_send_budget_limit_bytes",
        "The limit of each pool.",
        "pool",
        pools("bytesMax"),
      ),
      labelled(
        "gauge",
        "lazuli_send_budget_waiting",
        "Answers that wait for memory.",
        "pool",
        pools("waiting"),
      ),
      labelled(
        "gauge",
        "lazuli_borrowed_buffer_bytes",
        "Pooled buffers in use: to receive requests, or for the disk.",
        "purpose",
        buffers,
      ),
    ],
  };
}
