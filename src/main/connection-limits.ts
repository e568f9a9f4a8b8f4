import type { TableLimits } from "../front/connection-table.ts";
import { DEFAULT_LIMITS } from "../front/rest/http/limits.ts";
import type { Settings } from "./settings.ts";

/** By default one address gets half of the connections, so that it cannot lock out all others. */
const PART_OF_ADDRESS = 0.5;

/** The connection limits of each listener. */
export function connectionLimits({
  maxConnections,
  connectionsPerAddress,
}: Pick<Settings, "maxConnections" | "connectionsPerAddress">): TableLimits {
  const connectionsMax = maxConnections ?? DEFAULT_LIMITS.connectionsMax;
  const connectionsPerAddressMax =
    connectionsPerAddress ?? Math.ceil(connectionsMax * PART_OF_ADDRESS);
  return { connectionsMax, connectionsPerAddressMax };
}
