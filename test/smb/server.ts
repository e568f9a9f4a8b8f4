import { systemClock } from "../../src/base/clock.ts";
import { passwordHash } from "../../src/front/smb/auth/ntlm-keys.ts";
import { DEFAULT_SMB_LIMITS, type SmbLimits } from "../../src/front/smb/limits.ts";
import type { SmbEncryption } from "../../src/front/smb/smb-server.ts";
import { openSmbListener } from "../../src/front/smb/transport.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";

/** An SMB server of its own for a test. */
export interface TestSmb {
  readonly port: number;
  /** What went wrong inside. */
  readonly failures: unknown[];
  close(): Promise<void>;
}

export interface TestSmbOptions {
  readonly encryption?: SmbEncryption;
  readonly signingRequired?: boolean;
  readonly limits?: Partial<SmbLimits>;
  readonly shares?: readonly string[];
}

export async function startSmb(options: TestSmbOptions = {}): Promise<TestSmb> {
  const failures: unknown[] = [];
  const { encryption = "preferred", signingRequired = false, shares = ["box"] } = options;
  const listener = await openSmbListener({
    host: "127.0.0.1",
    port: 0,
    accounts: new Map([[ACCOUNT, { name: ACCOUNT, passwordHashes: [passwordHash(KEY)] }]]),
    shares: { list: async () => shares, has: async (_account, name) => shares.includes(name) },
    encryption,
    signingRequired,
    clock: systemClock,
    limits: { ...DEFAULT_SMB_LIMITS, ...options.limits },
    log: { failure: (_what, error) => failures.push(error) },
  });
  return { port: listener.port, failures, close: () => listener.drain() };
}
