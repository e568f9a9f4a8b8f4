import { AzureNamedKeyCredential, TableClient, TableServiceClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { ManualClock, systemClock } from "../../src/base/clock.ts";
import { HEALTHY } from "../../src/front/health.ts";
import { Outcomes } from "../../src/front/outcome.ts";
import { accountsOf } from "../../src/front/rest/auth/account.ts";
import { BlobRestService } from "../../src/front/rest/blob/blob-rest-service.ts";
import { BLOB_SOURCES } from "../../src/front/rest/blob/blob-source.ts";
import { FileRestService } from "../../src/front/rest/file/file-rest-service.ts";
import { FILE_SOURCES } from "../../src/front/rest/file/file-source.ts";
import type { RestService } from "../../src/front/rest/http/exchange.ts";
import { DEFAULT_LIMITS } from "../../src/front/rest/http/limits.ts";
import { restReadMemory } from "../../src/front/rest/http/own-server.ts";
import { type Listener, openListener } from "../../src/front/rest/http/server.ts";
import { SliceQuota } from "../../src/front/rest/http/slice-quota.ts";
import { wholeBodyBudget } from "../../src/front/rest/http/whole-body.ts";
import { QueueRestService } from "../../src/front/rest/queue/queue-rest-service.ts";
import { CopySources } from "../../src/front/rest/source/copy-sources.ts";
import { ForeignSources } from "../../src/front/rest/source/foreign-sources.ts";
import { OwnEndpoints } from "../../src/front/rest/source/own-endpoints.ts";
import { TableRestService } from "../../src/front/rest/table/table-rest-service.ts";
import { SendBudget } from "../../src/front/send-budget.ts";
import { WaitingWork } from "../../src/front/waiting-work.ts";
import { openData } from "../../src/main/open-data.ts";
import { WatchedStore } from "../../src/service/file/watched-store.ts";
import { RunningCopies } from "../../src/service/shared/running-copies.ts";
import { ACCOUNT, CREDENTIAL, KEY } from "../sdk/server.ts";

/** The time in the fixture: leases, retention and visibility stay as they were, in any year. */
export const FIXTURE_MS = Date.UTC(2026, 10, 18, 12);

/** All services on one data folder, at a time that the test sets. */
export interface FolderServer {
  readonly clock: ManualClock;
  readonly blobs: BlobServiceClient;
  readonly queues: QueueServiceClient;
  readonly tables: TableServiceClient;
  readonly shares: ShareServiceClient;
  table(name: string): TableClient;
  close(): Promise<void>;
}

const RETENTION_DAYS = 365;

export async function serveFolder(location: string, nowMs: number): Promise<FolderServer> {
  const clock = new ManualClock(nowMs);
  const copies = new RunningCopies();
  const readMemory = restReadMemory();
  const wholeBodies = wholeBodyBudget();
  const listeners: Listener[] = [];
  const data = await openData({ location, memoryBytesMax: null }, clock, (error) => {
    throw error;
  });
  const accounts = accountsOf([{ name: ACCOUNT, keys: [KEY] }]);
  const auth = { oauth: null };
  const endpoints = new OwnEndpoints(accounts);
  const foreign = new ForeignSources({ origins: [], networks: [] });
  const protocols = { blob: BLOB_SOURCES, file: FILE_SOURCES };
  const sources = new CopySources({ accounts, auth, endpoints, protocols, foreign });
  const blobSettings = { versioning: true, containerRetentionDays: RETENTION_DAYS };
  const fileSettings = { shareRetentionDays: RETENTION_DAYS };
  const listen = async (name: "blob" | "queue" | "table" | "file", service: RestService) => {
    const listener = await openListener({
      kind: "own",
      service,
      host: "127.0.0.1",
      port: 0,
      tls: null,
      // Clients sign with the time of the system.
      clock: systemClock,
      limits: DEFAULT_LIMITS,
      log: { failure: (_id, error) => console.error(error) },
      budget: new SendBudget(),
      slices: new SliceQuota(),
      work: new WaitingWork(),
      readMemory,
      wholeBodies,
      software: "Lazuli/test",
      outcomes: new Outcomes(),
      health: () => HEALTHY,
    });
    listeners.push(listener);
    endpoints.add(name, listener.origin);
    return `${listener.origin}/${ACCOUNT}`;
  };
  const context = {
    ...data,
    copies,
    sources,
    settingsByAccount: new Map([[ACCOUNT, blobSettings]]),
  };
  const blobUrl = await listen("blob", new BlobRestService(context, accounts, auth));
  const queueUrl = await listen("queue", new QueueRestService(data, accounts, auth));
  const tableUrl = await listen("table", new TableRestService(data, accounts, auth));
  const files = {
    ...data,
    store: new WatchedStore(data.store),
    copies,
    sources,
    settingsByAccount: new Map([[ACCOUNT, fileSettings]]),
  };
  const fileService = new FileRestService(files, accounts, auth);
  const fileUrl = await listen("file", fileService);

  const once = { retryOptions: { maxTries: 1 } };
  const tableKey = new AzureNamedKeyCredential(ACCOUNT, KEY);
  const tableOptions = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
  return {
    clock,
    blobs: new BlobServiceClient(blobUrl, CREDENTIAL, once),
    queues: new QueueServiceClient(queueUrl, CREDENTIAL, once),
    tables: new TableServiceClient(tableUrl, tableKey, tableOptions),
    shares: new ShareServiceClient(fileUrl, CREDENTIAL, once),
    table: (name) => new TableClient(tableUrl, name, tableKey, tableOptions),
    async close() {
      for (const listener of listeners) await listener.drain();
      await copies.stop();
      readMemory.close();
      await data.close();
    },
  };
}
