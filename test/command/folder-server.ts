import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { TableClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { DataLakeServiceClient, StorageSharedKeyCredential } from "@azure/storage-file-datalake";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { type Ended, LazuliProcess } from "./process.ts";

const SERVICES = ["blob", "queue", "table", "file", "dfs"] as const;

/** A fresh folder that goes with the test. */
export function scratchFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "lazuli-folder-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function lazuli(...args: string[]): Promise<Ended> {
  return new LazuliProcess(args).ended();
}

/** A server of all REST services, as its own process. */
export class RestServer {
  readonly process: LazuliProcess;
  readonly #origins: Promise<readonly string[]>;

  constructor(t: TestContext, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const ports = SERVICES.flatMap((name) => [`--${name}Port`, "0"]);
    this.process = new LazuliProcess(["--services", SERVICES.join(","), ...ports, ...args], env);
    t.after(() => this.process.kill());
    this.#origins = this.#printed();
    this.#origins.catch(() => {});
  }

  async #printed(): Promise<readonly string[]> {
    const urls: string[] = [];
    for (const name of ["Blob", "Queue", "Table", "File", "DFS"] as const) {
      urls.push(await this.process.urlOf(name));
    }
    return urls;
  }

  async connectionString(): Promise<string> {
    const [blob, queue, table, file] = await this.#origins;
    return (
      `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${KEY};` +
      `BlobEndpoint=${blob};QueueEndpoint=${queue};TableEndpoint=${table};FileEndpoint=${file};`
    );
  }

  async blobs(): Promise<BlobServiceClient> {
    return BlobServiceClient.fromConnectionString(await this.connectionString());
  }

  async queues(): Promise<QueueServiceClient> {
    return QueueServiceClient.fromConnectionString(await this.connectionString());
  }

  async shares(): Promise<ShareServiceClient> {
    return ShareServiceClient.fromConnectionString(await this.connectionString());
  }

  async table(name: string): Promise<TableClient> {
    const options = { allowInsecureConnection: true };
    return TableClient.fromConnectionString(await this.connectionString(), name, options);
  }

  async dataLake(): Promise<DataLakeServiceClient> {
    const url = (await this.#origins)[4] ?? "";
    return new DataLakeServiceClient(url, new StorageSharedKeyCredential(ACCOUNT, KEY));
  }

  async stop(): Promise<void> {
    this.process.signal("SIGTERM");
    await this.process.ended();
  }
}

/** The same on a data folder. */
export class FolderServer extends RestServer {
  readonly location: string;

  constructor(t: TestContext, location: string, config: object | null = null, args: string[] = []) {
    const file = `${location}.json`;
    if (config !== null) writeFileSync(file, JSON.stringify(config));
    const configured = config === null ? [] : ["--config", file];
    super(t, ["--location", location, ...configured, ...args]);
    this.location = location;
  }
}
