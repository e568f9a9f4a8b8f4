import { DEFAULT_LOGON_LIMITS } from "../front/smb/auth/failed-logons.ts";
import { DEFAULT_SMB_LIMITS } from "../front/smb/limits.ts";
import type { SmbServerOptions } from "../front/smb/smb-server.ts";
import { openSmbListener, type SmbListener } from "../front/smb/transport.ts";
import { connectionLimits } from "./connection-limits.ts";
import type { Log } from "./log.ts";
import type { Settings } from "./settings.ts";

/** What the listener shares with others. */
type SharedParts = Pick<SmbServerOptions, "shares" | "clock" | "budget" | "outcomes" | "gate">;

/** Opens the SMB listener. Rejects with the system's error if it cannot listen. */
export async function listenSmb(
  settings: Settings,
  log: Log,
  parts: SharedParts,
): Promise<SmbListener> {
  const { host, port } = settings.listen.smb;
  const { accounts, encryption, signingRequired, dialectMin } = settings.smb;
  return await openSmbListener({
    ...parts,
    host,
    port,
    accounts,
    encryption,
    signingRequired,
    dialectMin,
    limits: { ...DEFAULT_SMB_LIMITS, ...connectionLimits(settings) },
    logonLimits: DEFAULT_LOGON_LIMITS,
    log: {
      failure: (what, error) => log.warn(`${what} failed`, error),
      warn: (line) => log.warn("SMB", line),
    },
  });
}
