import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { AzureNamedKeyCredential, TableServiceClient } from "@azure/data-tables";
import { BlobServiceClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import { ACCOUNT, KEY } from "../sdk/server.ts";

/** Clients of one emulator, which try once, so that the first answer is seen. */
export interface EmulatorClients {
  /** `http://127.0.0.1:port` of the Blob service. */
  readonly blobOrigin: string;
  readonly blob: BlobServiceClient;
  readonly table: TableServiceClient;
  readonly tableUrl: string;
}

const ARGUMENTS = ["--inMemoryPersistence", "--silent", "--disableTelemetry"];
const PORTS = ["--blobPort", "0", "--queuePort", "0", "--tablePort", "0"];

/** Azurite, or what is started by its name: the same flags, and the same lines about the start. */
export class EmulatorProcess {
  readonly #child: ChildProcess;
  readonly clients: EmulatorClients;

  private constructor(child: ChildProcess, blobOrigin: string, tableOrigin: string) {
    this.#child = child;
    const tableUrl = `${tableOrigin}/${ACCOUNT}`;
    this.clients = {
      blobOrigin,
      tableUrl,
      blob: new BlobServiceClient(
        `${blobOrigin}/${ACCOUNT}`,
        new StorageSharedKeyCredential(ACCOUNT, KEY),
        { retryOptions: { maxTries: 1 } },
      ),
      table: new TableServiceClient(tableUrl, new AzureNamedKeyCredential(ACCOUNT, KEY), {
        allowInsecureConnection: true,
        retryOptions: { maxRetries: 0 },
      }),
    };
  }

  static async start(node: string, script: string): Promise<EmulatorProcess> {
    const child = spawn(node, [script, ...ARGUMENTS, ...PORTS], {
      env: { ...process.env, AZURITE_ACCOUNTS: "" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const origins = new Map<string, string>();
    let printed = "";
    for await (const text of child.stdout.setEncoding("utf8")) {
      printed += text;
      const ready = /^Azurite (\w+) service is successfully listening at (\S+)\n/gm;
      for (const [, service = "", origin = ""] of printed.matchAll(ready)) {
        origins.set(service, origin);
      }
      if (origins.size === 3) break;
    }
    const [blob, table] = [origins.get("Blob"), origins.get("Table")];
    if (blob === undefined || table === undefined) throw new Error(`It did not start: ${printed}`);
    return new EmulatorProcess(child, blob, table);
  }

  async stop(): Promise<void> {
    const closed = once(this.#child, "close");
    this.#child.kill("SIGKILL");
    await closed;
  }
}
