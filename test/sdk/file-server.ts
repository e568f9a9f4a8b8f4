import {
  type ShareClient,
  ShareServiceClient,
  StorageSharedKeyCredential,
} from "@azure/storage-file-share";
import type { Accounts } from "../../src/front/rest/auth/account.ts";
import type { AuthOptions } from "../../src/front/rest/auth/authenticate.ts";
import { FileRestService } from "../../src/front/rest/file/file-rest-service.ts";
import { FILE_SOURCES } from "../../src/front/rest/file/file-source.ts";
import { CopySources } from "../../src/front/rest/source/copy-sources.ts";
import { ForeignSources } from "../../src/front/rest/source/foreign-sources.ts";
import { OwnEndpoints } from "../../src/front/rest/source/own-endpoints.ts";
import type { StoredShares } from "../../src/front/smb/file-host.ts";
import type { Data } from "../../src/main/open-data.ts";
import { receiveMessage } from "../../src/service/file/receive-message.ts";
import { FileSweep } from "../../src/service/file/sweep.ts";
import { WatchedStore } from "../../src/service/file/watched-store.ts";
import { RunningCopies } from "../../src/service/shared/running-copies.ts";
import "./local-names.ts";
import { ACCOUNT, startService, type TestServerOptions, type TestService } from "./server.ts";

/** A File service for one test, with a manual clock. */
export interface FileServer extends TestService {
  /** The file service of each front end, which other fronts to the same shares use, too. */
  readonly stored: readonly StoredShares[];
  /** Makes a client without retries, so that a test sees the first response. */
  client(): ShareServiceClient;
  /**
   * Makes a client whose host names the account: on a rename, the client takes the first path
   * segment for the share.
   */
  hostClient(): ShareServiceClient;
  /** Creates a share and returns a client whose host names the account. */
  newShare(): Promise<ShareClient>;
}

export interface FileServerOptions extends TestServerOptions {
  readonly shareRetentionDays?: number;
}

export async function startFileServer(options: FileServerOptions = {}): Promise<FileServer> {
  const { shareRetentionDays = null } = options;
  const allCopies: RunningCopies[] = [];
  const stored: StoredShares[] = [];
  class CopyingFileService extends FileRestService {
    constructor(data: Data, accounts: Accounts, auth: AuthOptions) {
      const endpoints = new OwnEndpoints(accounts);
      const foreign = new ForeignSources({ origins: options.copyFrom ?? [], networks: [] });
      const protocols = { file: FILE_SOURCES };
      const sources = new CopySources({ accounts, auth, endpoints, protocols, foreign });
      const settingsByAccount = new Map([[ACCOUNT, { shareRetentionDays }]]);
      const shares = sharesIn(data);
      stored.push(shares);
      const copies = new RunningCopies(data.member?.frontEnd.number);
      allCopies.push(copies);
      super({ ...shares.files, settingsByAccount, copies, sources }, accounts, auth);
    }
  }
  const service = await startService(CopyingFileService, options);
  const credential = new StorageSharedKeyCredential(service.account, service.key);
  const client = () =>
    new ShareServiceClient(service.url, credential, { retryOptions: { maxTries: 1 } });
  const { port } = new URL(service.url);
  const hostUrl = `http://${service.account}.file.localhost:${port}`;
  const hostClient = () =>
    new ShareServiceClient(hostUrl, credential, { retryOptions: { maxTries: 1 } });
  let shares = 0;
  return {
    ...service,
    close: () => Promise.all(allCopies.map((copies) => copies.stop())).then(service.close),
    stored,
    client,
    hostClient,
    async newShare() {
      const share = hostClient().getShareClient(`share${shares++}`);
      await share.create();
      return share;
    },
  };
}

/** The shares as one front end serves them. Handles of the only one have any mark. */
function sharesIn({ store, contents, breaks, member }: Data): StoredShares {
  const files = { store: new WatchedStore(store, member?.messages), contents, breaks };
  if (member === null) return { files, epoch: () => 1n, isShared: false };
  const { frontEnd, messages } = member;
  messages.listen((message) => receiveMessage(files, message));
  return { files, epoch: () => frontEnd.epochToOpenIn(), isShared: true };
}

/** Sweeps until nothing is left to do. */
export async function sweepFiles({ context }: FileServer): Promise<void> {
  const files = new FileSweep(context);
  while (await files.sweep());
  while (await context.contents.sweep());
}
