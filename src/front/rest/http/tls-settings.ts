import type { TlsOptions as NodeTlsOptions } from "node:tls";
import type { ListenerLimits } from "./limits.ts";
import type { TlsOptions } from "./server.ts";

/** How either listener speaks TLS. */
export function tlsSettings(tls: TlsOptions, { headersMs }: ListenerLimits): NodeTlsOptions {
  const traits = { ALPNProtocols: ["http/1.1"], handshakeTimeout: headersMs };
  return { ...traits, ...tls, minVersion: "TLSv1.2" };
}
