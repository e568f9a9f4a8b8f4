import { systemClock } from "../../src/base/clock.ts";
import {
  type OnOutcome,
  type Outcome,
  Outcomes,
  type SmbOutcome,
} from "../../src/front/outcome.ts";
import { SendBudget } from "../../src/front/send-budget.ts";
import { DEFAULT_LOGON_LIMITS, type LogonLimits } from "../../src/front/smb/auth/failed-logons.ts";
import { passwordHash } from "../../src/front/smb/auth/ntlm-keys.ts";
import { DIALECT, type Dialect } from "../../src/front/smb/codec/negotiate.ts";
import type { StoredShares } from "../../src/front/smb/file-host.ts";
import { DEFAULT_SMB_LIMITS, type SmbLimits } from "../../src/front/smb/limits.ts";
import { type SmbEncryption, sharesInOne } from "../../src/front/smb/smb-server.ts";
import { openSmbListener, type SmbListener } from "../../src/front/smb/transport.ts";
import { type FileServer, startFileServer } from "../sdk/file-server.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import type { TestEngine } from "../sdk/test-data.ts";
import { doorTo } from "./any-door.ts";

/** The File service over REST and SMB, with its own data. */
export interface TestSmb {
  readonly port: number;
  readonly rest: FileServer;
  /** Internal errors of the server. */
  readonly failures: unknown[];
  /** Lines for the server's operator. */
  readonly warnings: string[];
  /** The outcomes of all SMB requests so far. */
  readonly outcomes: readonly SmbOutcome[];
  close(): Promise<void>;
}

export interface TestSmbOptions {
  readonly encryption?: SmbEncryption;
  readonly signingRequired?: boolean;
  readonly dialectMin?: Dialect;
  readonly logonLimits?: Partial<LogonLimits>;
  readonly limits?: Partial<SmbLimits>;
  readonly budget?: SendBudget;
  readonly shares?: readonly string[];
  readonly onOutcome?: OnOutcome;
  readonly engine?: TestEngine;
  /** One front end, however many are asked for: for tests about one process. */
  readonly alone?: boolean;
}

export async function startSmb(options: TestSmbOptions = {}): Promise<TestSmb> {
  const { engine, alone } = options;
  const rest = await startFileServer({ ...(engine && { engine }), ...(alone && { alone }) });
  const { failures } = rest;
  const warnings: string[] = [];
  const outcomes: SmbOutcome[] = [];
  const onOutcome = (outcome: Outcome) => void outcomes.push(outcome as SmbOutcome);
  for (const share of options.shares ?? ["box"]) {
    await rest.client().getShareClient(share).create();
  }
  const listening = rest.stored.map((stored) =>
    listenSmb(rest, stored, { ...options, onOutcome }, warnings),
  );
  const listeners = await Promise.all(listening);
  const door = await doorTo(listeners.map(({ port }) => port));
  return {
    port: door.port,
    rest,
    failures,
    warnings,
    outcomes,
    async close() {
      await Promise.all(listeners.map((listener) => listener.drain()));
      await door.close();
      await rest.close();
    },
  };
}

/** The SMB half of a front end. */
export function listenSmb(
  { failures }: FileServer,
  stored: StoredShares,
  options: TestSmbOptions = {},
  warnings: string[] = [],
): Promise<SmbListener> {
  return openSmbListener({
    host: "127.0.0.1",
    port: 0,
    accounts: new Map([[ACCOUNT, { name: ACCOUNT, passwordHashes: [passwordHash(KEY)] }]]),
    shares: sharesInOne(stored),
    encryption: options.encryption ?? "preferred",
    signingRequired: options.signingRequired ?? false,
    dialectMin: options.dialectMin ?? DIALECT.smb202,
    clock: systemClock,
    limits: { ...DEFAULT_SMB_LIMITS, ...options.limits },
    budget: options.budget ?? new SendBudget(),
    outcomes: new Outcomes(options.onOutcome),
    logonLimits: { ...DEFAULT_LOGON_LIMITS, ...options.logonLimits },
    log: {
      failure: (_what, error) => failures.push(error),
      warn: (line) => warnings.push(line),
    },
  });
}
