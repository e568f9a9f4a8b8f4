import { Fault } from "../../../base/fault.ts";
import type { RequestHeaders } from "../http/exchange.ts";

const REASON = "It is for shares over NFS, and all shares here are for SMB.";

export function requireNoNfsHeaders(headers: RequestHeaders, names: readonly string[]): void {
  for (const name of names) {
    if (headers.get(name) === undefined) continue;
    throw new Fault("UnsupportedHeader", { HeaderName: name, Reason: REASON });
  }
}
