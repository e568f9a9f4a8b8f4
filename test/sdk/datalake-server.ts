import { BlobServiceClient } from "@azure/storage-blob";
import {
  type DataLakeFileSystemClient,
  DataLakeServiceClient,
  StorageSharedKeyCredential,
} from "@azure/storage-file-datalake";
import type { Accounts } from "../../src/front/rest/auth/account.ts";
import type { AuthOptions } from "../../src/front/rest/auth/authenticate.ts";
import { BLOB_SOURCES } from "../../src/front/rest/blob/blob-source.ts";
import { BlobDoors } from "../../src/front/rest/datalake/blob-doors.ts";
import { CopySources } from "../../src/front/rest/source/copy-sources.ts";
import { ForeignSources } from "../../src/front/rest/source/foreign-sources.ts";
import { OwnEndpoints } from "../../src/front/rest/source/own-endpoints.ts";
import type { Data } from "../../src/main/open-data.ts";
import { type BlobContext, DEFAULT_BLOB_SETTINGS } from "../../src/service/blob/context.ts";
import { RunningCopies } from "../../src/service/shared/running-copies.ts";
import "./local-names.ts";
import {
  ACCOUNT,
  CREDENTIAL,
  KEY,
  startService,
  type TestServerOptions,
  type TestService,
} from "./server.ts";

/** The Data Lake endpoint for one test, with a manual clock. */
export interface DataLakeServer extends TestService {
  /** Makes a client without retries, so that a test sees the first response. */
  client(): DataLakeServiceClient;
  /** Makes a client whose host names the account: `account.dfs.localhost`. */
  hostClient(): DataLakeServiceClient;
  /** Makes a client of the Blob protocol for the same port. */
  blobClient(): BlobServiceClient;
  /** Creates a file system with a unique name. */
  makeFilesystem(): Promise<DataLakeFileSystemClient>;
}

export interface DataLakeOptions extends TestServerOptions {
  /** The kind of new containers; if not given, the endpoint decides. */
  readonly hierarchicalNamespace?: boolean;
  /** The door that the port is for; by default that of Data Lake. */
  readonly door?: "blob" | "dfs";
}

export const DATALAKE_CREDENTIAL = new StorageSharedKeyCredential(ACCOUNT, KEY);

export async function startDataLake(options: DataLakeOptions = {}): Promise<DataLakeServer> {
  const allCopies: RunningCopies[] = [];
  const { hierarchicalNamespace, door = "dfs" } = options;
  class CopyingDoors extends BlobDoors {
    constructor(context: Data & BlobContext, accounts: Accounts, auth: AuthOptions) {
      const endpoints = new OwnEndpoints(accounts);
      const foreign = new ForeignSources({ origins: [], networks: [] });
      const protocols = { blob: BLOB_SOURCES, dfs: BLOB_SOURCES };
      const sources = new CopySources({ accounts, auth, endpoints, protocols, foreign });
      const copies = new RunningCopies(context.member?.frontEnd.number);
      allCopies.push(copies);
      super(door, { ...context, copies, sources }, accounts, auth);
    }
  }
  const blob = {
    ...DEFAULT_BLOB_SETTINGS,
    ...options.blob,
    ...(hierarchicalNamespace === undefined ? {} : { hierarchicalNamespace }),
  };
  const service = await startService(CopyingDoors, { ...options, blob });
  const noRetries = { retryOptions: { maxTries: 1 } };
  const { port, protocol } = new URL(service.url);
  const hostUrl = `${protocol}//${service.account}.dfs.localhost:${port}`;
  const client = () => new DataLakeServiceClient(service.url, DATALAKE_CREDENTIAL, noRetries);
  let made = 0;
  return {
    ...service,
    close: () => Promise.all(allCopies.map((copies) => copies.stop())).then(service.close),
    client,
    hostClient: () => new DataLakeServiceClient(hostUrl, DATALAKE_CREDENTIAL, noRetries),
    blobClient: () => new BlobServiceClient(service.url, CREDENTIAL, noRetries),
    async makeFilesystem() {
      const filesystem = client().getFileSystemClient(`made-${++made}`);
      await filesystem.create();
      return filesystem;
    },
  };
}
