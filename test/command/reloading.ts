import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { BlobServiceClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import { LazuliProcess } from "./process.ts";

export const newKey = () => randomBytes(64).toString("base64");

const LINE = /^\S+ (The configuration is .*)\n/gm;

/** A server with a configuration file that tests change, in its own folder. */
export class ReloadedServer {
  readonly folder = mkdtempSync(join(tmpdir(), "lazuli-reload-"));
  readonly config = join(this.folder, "lazuli.json");
  readonly location = join(this.folder, "data");
  readonly process: LazuliProcess;
  #reloads = 0;

  /** Starts `--services`, by default Blob. `files` are written to its folder before. */
  constructor(
    t: TestContext,
    config: object,
    {
      services = "blob",
      args = [] as string[],
      files = {} as Record<string, Buffer | string>,
      ipc = false,
    } = {},
  ) {
    this.write(config);
    for (const [name, content] of Object.entries(files)) this.save(name, content);
    const ports = services.split(",").flatMap((name) => [`--${name}Port`, "0"]);
    const named = args.map((arg) => (arg in files ? join(this.folder, arg) : arg));
    const place = ["--location", this.location, "--config", this.config];
    const all = ["--services", services, ...ports, ...place, ...named];
    this.process = new LazuliProcess(all, {}, [], { hasChannel: ipc });
    t.after(async () => {
      await this.process.kill();
      rmSync(this.folder, { recursive: true });
    });
  }

  write(config: object | string): void {
    const text = typeof config === "string" ? config : JSON.stringify(config, null, 2);
    writeFileSync(this.config, text);
  }

  save(name: string, content: Buffer | string): void {
    writeFileSync(join(this.folder, name), content);
  }

  async origin(service = "Blob"): Promise<string> {
    return (await this.process.printed(new RegExp(`^${service} service .* at (\\S+)$`, "m"))) ?? "";
  }

  async blobs(account: string, key: string): Promise<BlobServiceClient> {
    const credential = new StorageSharedKeyCredential(account, key);
    return new BlobServiceClient(`${await this.origin()}/${account}`, credential, {
      retryOptions: { maxTries: 1 },
    });
  }

  /** Sends SIGHUP, and resolves to the line about the reload. */
  async hangUp(config?: object | string): Promise<string> {
    if (config !== undefined) this.write(config);
    this.process.signal("SIGHUP");
    return await this.nextLine();
  }

  /** Resolves to the next line about a reload. */
  async nextLine(): Promise<string> {
    const count = ++this.#reloads;
    await this.process.printedError(LINE, count);
    return [...this.process.errors.matchAll(LINE)][count - 1]?.[1] ?? "";
  }
}
