import type { RestResponse } from "./exchange.ts";
import type { Exchanges } from "./exchanges.ts";
import type { IncomingRequest } from "./incoming-request.ts";

/** The operation of a health check, for its outcome. */
export const HEALTH_CHECK = "healthCheck";

const PATH = "/healthz";
const FOR_WRITES = `${PATH}?for=writes`;

export function isHealthCheck({ path, method }: IncomingRequest): boolean {
  return path === PATH && (method === "GET" || method === "HEAD");
}

/** A full disk still serves readers: only a check that asks about writes gets a 503 then. */
export function health(target: string, { closing, options }: Exchanges): RestResponse {
  const headers = ["Content-Type", "text/plain", "Cache-Control", "no-store"];
  if (closing || !options.healthy()) return { status: 503, headers, body: "not serving\n" };
  if (options.isFull?.() !== true) return { status: 200, headers, body: "ok\n" };
  const isForWrites = target === FOR_WRITES;
  return { status: isForWrites ? 503 : 200, headers, body: "full: reads and deletes only\n" };
}
