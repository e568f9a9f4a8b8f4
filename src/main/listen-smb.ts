import type { Clock } from "../base/clock.ts";
import type { Outcomes } from "../front/outcome.ts";
import type { SendBudget } from "../front/send-budget.ts";
import { DEFAULT_LOGON_LIMITS } from "../front/smb/auth/failed-logons.ts";
import { DEFAULT_SMB_LIMITS } from "../front/smb/limits.ts";
import type { ShareStores } from "../front/smb/smb-server.ts";
import { openSmbListener, type SmbListener } from "../front/smb/transport.ts";
import { connectionLimits } from "./connection-limits.ts";
import type { Log } from "./log.ts";
import type { Settings } from "./settings.ts";

/** Opens the SMB listener. Rejects with the system's error if it cannot listen. */
export async function listenSmb(
  settings: Settings,
  shares: ShareStores,
  clock: Clock,
  log: Log,
  budget: SendBudget,
  outcomes: Pick<Outcomes, "take">,
): Promise<SmbListener> {
  const { host, port } = settings.listen.smb;
  const { accounts, encryption, signingRequired, dialectMin } = settings.smb;
  return await openSmbListener({
    host,
    port,
    accounts,
    encryption,
    signingRequired,
    dialectMin,
    shares,
    clock,
    limits: { ...DEFAULT_SMB_LIMITS, ...connectionLimits(settings) },
    budget,
    logonLimits: DEFAULT_LOGON_LIMITS,
    outcomes,
    log: {
      failure: (what, error) => log.warn(`${what} failed`, error),
      warn: (line) => log.warn("SMB", line),
    },
  });
}
