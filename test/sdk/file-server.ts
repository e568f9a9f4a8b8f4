import { ShareServiceClient, StorageSharedKeyCredential } from "@azure/storage-file-share";
import { FileRestService } from "../../src/front/rest/file/file-rest-service.ts";
import { startService, type TestServerOptions, type TestService } from "./server.ts";

/** A File service of its own for a test, with a clock that the test turns. */
export interface FileServer extends TestService {
  /** A client that tries once, so that a test sees the first answer. */
  client(): ShareServiceClient;
}

export async function startFileServer(options: TestServerOptions = {}): Promise<FileServer> {
  const service = await startService(FileRestService, options);
  const credential = new StorageSharedKeyCredential(service.account, service.key);
  return {
    ...service,
    client: () =>
      new ShareServiceClient(service.url, credential, { retryOptions: { maxTries: 1 } }),
  };
}
