import { systemClock } from "../../src/base/clock.ts";
import { passwordHash } from "../../src/front/smb/auth/ntlm-keys.ts";
import { DEFAULT_SMB_LIMITS, type SmbLimits } from "../../src/front/smb/limits.ts";
import type { SmbEncryption } from "../../src/front/smb/smb-server.ts";
import { openSmbListener } from "../../src/front/smb/transport.ts";
import { beginEpoch } from "../../src/service/file/clear-handles.ts";
import { type FileServer, startFileServer } from "../sdk/file-server.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";

/** The File service over REST and SMB, on data of its own. */
export interface TestSmb {
  readonly port: number;
  readonly rest: FileServer;
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
  const rest = await startFileServer();
  const { failures, files } = rest;
  const { encryption = "preferred", signingRequired = false, shares = ["box"] } = options;
  for (const share of shares) await rest.client().getShareClient(share).create();
  const listener = await openSmbListener({
    host: "127.0.0.1",
    port: 0,
    accounts: new Map([[ACCOUNT, { name: ACCOUNT, passwordHashes: [passwordHash(KEY)] }]]),
    files,
    epoch: await beginEpoch(files),
    encryption,
    signingRequired,
    clock: systemClock,
    limits: { ...DEFAULT_SMB_LIMITS, ...options.limits },
    log: { failure: (_what, error) => failures.push(error) },
  });
  return {
    port: listener.port,
    rest,
    failures,
    async close() {
      await listener.drain();
      await rest.close();
    },
  };
}
