import type { TlsOptions as NodeTlsOptions } from "node:tls";
import type { ListenerLimits } from "./limits.ts";

/** A certificate with its key, as PEM or in one PFX file. */
export type TlsOptions =
  | { readonly cert: Buffer; readonly key: Buffer; readonly passphrase?: string }
  | { readonly pfx: Buffer; readonly passphrase?: string };

/** How either listener speaks TLS. */
export function tlsSettings(tls: TlsOptions, { headersMs }: ListenerLimits): NodeTlsOptions {
  const traits = { ALPNProtocols: ["http/1.1"], handshakeTimeout: headersMs };
  return { ...traits, ...tls, minVersion: "TLSv1.2" };
}
