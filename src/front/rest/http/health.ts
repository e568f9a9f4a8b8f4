import { HEALTH_PATH, healthAnswer } from "../../health.ts";
import type { RestResponse } from "./exchange.ts";
import type { Exchanges } from "./exchanges.ts";
import type { IncomingRequest } from "./incoming-request.ts";

/** The operation of a health check, for its outcome. */
export const HEALTH_CHECK = "healthCheck";

export function isHealthCheck({ path, method }: IncomingRequest): boolean {
  return path === HEALTH_PATH && (method === "GET" || method === "HEAD");
}

export function health(target: string, { closing, options }: Exchanges): RestResponse {
  const headers = ["Content-Type", "text/plain", "Cache-Control", "no-store"];
  const now = options.health();
  const { status, text } = healthAnswer(target, closing ? { ...now, isStopping: true } : now);
  return { status, headers, body: text };
}
