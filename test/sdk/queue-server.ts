import { QueueServiceClient, StorageSharedKeyCredential } from "@azure/storage-queue";
import { QueueRestService } from "../../src/front/rest/queue/queue-rest-service.ts";
import { startService, type TestServerOptions, type TestService } from "./server.ts";

/** A Queue service for one test, with a manual clock. */
export interface QueueServer extends TestService {
  /** Makes a client without retries, so that a test sees the first response. */
  client(): QueueServiceClient;
}

export async function startQueueServer(options: TestServerOptions = {}): Promise<QueueServer> {
  const service = await startService(QueueRestService, options);
  const credential = new StorageSharedKeyCredential(service.account, service.key);
  return {
    ...service,
    client: () =>
      new QueueServiceClient(service.url, credential, { retryOptions: { maxTries: 1 } }),
  };
}
