import { ManualClock } from "../../base/clock.ts";
import { StoredContents } from "../../content/stored-contents.ts";
import { MemoryExtents } from "../../engine/memory/extents.ts";
import { MemoryStore } from "../../engine/memory/store.ts";
import { Machine } from "../../machine/machine.ts";
import { OWNER } from "../../rules/access.ts";
import { CacheBreaks, type Timer } from "../../service/file/cache-breaks.ts";
import { createShare } from "../../service/file/create-share.ts";
import { WatchedStore } from "../../service/file/watched-store.ts";
import { altered } from "../../store/altered-store.fixture.ts";
import { ForgettingStore } from "../../store/forgetting-store.fixture.ts";
import type { StoreError } from "../../store/store.ts";
import { SendBudget } from "../send-budget.ts";
import { DEFAULT_LOGON_LIMITS, type LogonLimits } from "./auth/failed-logons.ts";
import { passwordHash } from "./auth/ntlm-keys.ts";
import type { NtlmUser } from "./client/ntlm-client.ts";
import { DIALECT, type Dialect } from "./codec/negotiate.ts";
import { DropConnection } from "./drop-connection.ts";
import { DEFAULT_SMB_LIMITS, type SmbLimits } from "./limits.ts";
import { DirectLine, SmbClient } from "./smb-client.fixture.ts";
import { type SmbEncryption, SmbServer, sharesInOne } from "./smb-server.ts";

export const USER: NtlmUser = { user: "account", domain: "", password: "a2V5" };

export interface ServerUnderTest {
  readonly server: SmbServer;
  /** Errors inside the server, without dropped connections. */
  readonly failures: unknown[];
  /** Warnings for the operator. */
  readonly warnings: string[];
  readonly clock: ManualClock;
  client(address?: string): SmbClient;
}

export interface ServerTraits {
  readonly encryption?: SmbEncryption;
  readonly signingRequired?: boolean;
  readonly dialectMin?: Dialect;
  readonly logonLimits?: Partial<LogonLimits>;
  readonly limits?: Partial<SmbLimits>;
  readonly timer?: Timer;
  /** The error of every call of the store; null for none. After "unknown", its writes are there. */
  readonly failure?: () => StoreError | null;
  /** Every transaction waits for it. */
  readonly gate?: () => Promise<void>;
}

/** A server with one account and two shares, for clients that need no socket. */
export async function serverUnderTest(traits: ServerTraits = {}): Promise<ServerUnderTest> {
  const failures: unknown[] = [];
  const warnings: string[] = [];
  const { user, password } = USER;
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const memory = new ForgettingStore(new MemoryStore(clock));
  const orFail = async <T>(run: () => Promise<T>): Promise<T> => {
    const failure = traits.failure?.() ?? null;
    if (failure === null) return await run();
    if (failure.kind === "unknown") await run();
    throw failure;
  };
  const failing = altered(memory, {
    read: (body) => orFail(() => memory.read(body)),
    transact: async (body) => {
      await traits.gate?.();
      return orFail(() => memory.transact(body));
    },
  });
  const store = new WatchedStore(failing);
  const contents = new StoredContents(store, new MemoryExtents(), new Machine());
  const files = { store, contents, breaks: new CacheBreaks(traits.timer) };
  for (const share of ["box", "docs"]) {
    await createShare(files, {
      at: { account: user, share, snapshot: null },
      access: OWNER,
      metadata: [],
      quotaGib: 1,
      tier: "TransactionOptimized",
    });
  }
  const server = new SmbServer({
    accounts: new Map([[user, { name: user, passwordHashes: [passwordHash(password)] }]]),
    shares: sharesInOne({ files, epoch: () => 1n, isShared: false }),
    timer: traits.timer,
    encryption: traits.encryption ?? "preferred",
    signingRequired: traits.signingRequired ?? false,
    dialectMin: traits.dialectMin ?? DIALECT.smb202,
    clock,
    limits: { ...DEFAULT_SMB_LIMITS, ...traits.limits },
    budget: new SendBudget(),
    logonLimits: { ...DEFAULT_LOGON_LIMITS, ...traits.logonLimits },
    log: {
      failure: (_what, error) => failures.push(error),
      warn: (line) => warnings.push(line),
    },
  });
  const note = (error: unknown) => {
    if (!(error instanceof DropConnection)) failures.push(error);
  };
  return {
    server,
    failures,
    warnings,
    clock,
    client: (address) => new SmbClient(new DirectLine(server, note, address)),
  };
}
