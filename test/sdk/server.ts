import assert from "node:assert/strict";
import { after } from "node:test";
import {
  BlobServiceClient,
  type ContainerClient,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { type Clock, ManualClock, systemClock } from "../../src/base/clock.ts";
import { HEALTHY } from "../../src/front/health.ts";
import { type Accounts, accountsOf } from "../../src/front/rest/auth/account.ts";
import type { AuthOptions } from "../../src/front/rest/auth/authenticate.ts";
import type { OAuth } from "../../src/front/rest/auth/bearer.ts";
import { BlobRestService } from "../../src/front/rest/blob/blob-rest-service.ts";
import { BLOB_SOURCES } from "../../src/front/rest/blob/blob-source.ts";
import type { RestService } from "../../src/front/rest/http/exchange.ts";
import { DEFAULT_LIMITS } from "../../src/front/rest/http/limits.ts";
import { restReadMemory } from "../../src/front/rest/http/own-server.ts";
import { openListener } from "../../src/front/rest/http/server.ts";
import { SliceQuota } from "../../src/front/rest/http/slice-quota.ts";
import type { TlsOptions } from "../../src/front/rest/http/tls-settings.ts";
import { wholeBodyBudget } from "../../src/front/rest/http/whole-body.ts";
import { CopySources } from "../../src/front/rest/source/copy-sources.ts";
import { ForeignSources } from "../../src/front/rest/source/foreign-sources.ts";
import { OwnEndpoints } from "../../src/front/rest/source/own-endpoints.ts";
import { SendBudget } from "../../src/front/send-budget.ts";
import { WaitingWork } from "../../src/front/waiting-work.ts";
import type { Data } from "../../src/main/open-data.ts";
import type { RoleAssignment } from "../../src/rules/roles.ts";
import {
  type BlobContext,
  type BlobSettings,
  DEFAULT_BLOB_SETTINGS,
} from "../../src/service/blob/context.ts";
import { RunningCopies } from "../../src/service/shared/running-copies.ts";
import { AnyFrontEnd } from "./any-front-end.ts";
import { OutcomeList } from "./outcome-list.ts";
import { openTestData, type TestEngine } from "./test-data.ts";

/** One service for one test, with a manual clock. */
export interface TestService {
  /** `http://127.0.0.1:port/account` */
  readonly url: string;
  readonly account: string;
  readonly key: string;
  /** The clock of leases, lists and queues. Request dates are compared with the system's clock. */
  readonly clock: ManualClock;
  readonly context: TestContext;
  readonly outcomes: OutcomeList;
  /** Internal errors; a test that causes failures empties it. */
  readonly failures: unknown[];
  close(): Promise<void>;
}

/** The data and the configured settings. */
type TestContext = Data & BlobContext;

export interface TestServer extends TestService {
  readonly connectionString: string;
  /** Makes a client without retries, so that a test sees the first response. */
  client(): BlobServiceClient;
  /** Creates a container with a unique name. */
  makeContainer(): Promise<ContainerClient>;
}

export interface TestServerOptions {
  /** In memory by default, or what `LAZULI_TEST_ENGINE` names: `embedded` or `postgres`. */
  readonly engine?: TestEngine;
  /** One front end, however many `LAZULI_TEST_FRONT_ENDS` asks for: for tests about one process. */
  readonly alone?: boolean;
  readonly tls?: TlsOptions;
  readonly oauth?: OAuth;
  /** The configured settings of the account's blobs. */
  readonly blob?: BlobSettings;
  /** Host names of the account. */
  readonly domains?: readonly string[];
  /** The roles of the account. */
  readonly roles?: readonly RoleAssignment[];
  /** Origins of servers that may be copied from. */
  readonly copyFrom?: readonly string[];
  /** The clock for request dates; by default the system's clock. */
  readonly requestClock?: Clock;
}

export const ACCOUNT = "devstoreaccount1";
export const KEY =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/** Whether `LAZULI_TEST_LISTENER=node` is set, which runs the tests on the `node:http` listener. */
export const ON_NODE_LISTENER = process.env.LAZULI_TEST_LISTENER === "node";

export const CREDENTIAL = new StorageSharedKeyCredential(ACCOUNT, KEY);

export async function startServer(options: TestServerOptions = {}): Promise<TestServer> {
  const allowed = { origins: options.copyFrom ?? [], networks: [] };
  const allCopies: RunningCopies[] = [];
  const allEndpoints: OwnEndpoints[] = [];
  class CopyingBlobService extends BlobRestService {
    constructor(context: TestContext, accounts: Accounts, auth: AuthOptions) {
      const endpoints = new OwnEndpoints(accounts);
      allEndpoints.push(endpoints);
      const protocols = { blob: BLOB_SOURCES };
      const foreign = new ForeignSources(allowed);
      const sources = new CopySources({ accounts, auth, endpoints, protocols, foreign });
      const copies = new RunningCopies(context.member?.frontEnd.number);
      allCopies.push(copies);
      super({ ...context, copies, sources }, accounts, auth);
    }
  }
  const service = await startService(CopyingBlobService, options);
  const { url } = service;
  for (const endpoints of allEndpoints) endpoints.add("blob", new URL(url).origin);
  const client = () => new BlobServiceClient(url, CREDENTIAL, { retryOptions: { maxTries: 1 } });
  let containers = 0;
  return {
    ...service,
    close: () => Promise.all(allCopies.map((copies) => copies.stop())).then(service.close),
    connectionString: `AccountName=${ACCOUNT};AccountKey=${KEY};BlobEndpoint=${url};`,
    client,
    async makeContainer() {
      const made = client().getContainerClient(`made-${++containers}`);
      await made.create();
      return made;
    },
  };
}

/**
 * Starts a server for all tests in a file. Fails if an internal error remains when they are done.
 */
export async function forThisFile<S extends TestService>(start: Promise<S>): Promise<S> {
  const server = await start;
  after(async () => {
    await server.close();
    assert.deepEqual(server.failures, []);
  });
  return server;
}

type ServiceClass = new (
  context: TestContext,
  accounts: Accounts,
  auth: AuthOptions,
) => RestService;

/** A second account, for which the first one's key is not valid. */
export const OTHER_ACCOUNT = "otheraccount";

export async function startService(
  Service: ServiceClass,
  options: TestServerOptions = {},
): Promise<TestService> {
  const clock = new ManualClock(Date.now());
  const failures: unknown[] = [];
  const outcomes = new OutcomeList();
  const { engine, alone = false } = options;
  const failStop = (error: unknown) => failures.push(error);
  const data = await openTestData(engine, clock, failStop, alone ? 1 : undefined);
  const blobSettings = options.blob ?? DEFAULT_BLOB_SETTINGS;
  const settingsByAccount = new Map([[ACCOUNT, blobSettings]]);
  const contexts = data.frontEnds.map((frontEnd) => ({ ...frontEnd, settingsByAccount }));
  const context = contexts[0] as TestContext;
  const accounts = accountsOf([
    { name: ACCOUNT, keys: [KEY], domains: options.domains ?? [], roles: options.roles ?? [] },
    { name: OTHER_ACCOUNT, keys: [KEY] },
  ]);
  const readMemory = restReadMemory();
  const listener = await openListener({
    kind: ON_NODE_LISTENER ? "node" : "own",
    service: new AnyFrontEnd(
      contexts.map((each) => new Service(each, accounts, { oauth: options.oauth ?? null })),
    ),
    host: "127.0.0.1",
    port: 0,
    tls: options.tls ?? null,
    clock: options.requestClock ?? systemClock,
    limits: DEFAULT_LIMITS,
    log: { failure: (_id, error) => failures.push(error) },
    outcomes: { take: outcomes.add },
    budget: new SendBudget(),
    slices: new SliceQuota(),
    work: new WaitingWork(),
    readMemory,
    wholeBodies: wholeBodyBudget(),
    software: "Lazuli/test",
    health: () => HEALTHY,
  });
  const url = `${listener.origin}/${ACCOUNT}`;
  return {
    url,
    account: ACCOUNT,
    key: KEY,
    clock,
    context,
    outcomes,
    failures,
    async close() {
      await listener.drain();
      readMemory.close();
      await data.close();
    },
  };
}
