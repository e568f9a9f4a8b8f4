import { AzureNamedKeyCredential, TableClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { ShareServiceClient, StorageSharedKeyCredential } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { ACCOUNT, CREDENTIAL, KEY } from "../../sdk/server.ts";
import type { Random } from "../../sim/random.ts";
import type { Trouble } from "./holds.ts";
import type { ServiceGaps } from "./service-gaps.ts";

/** The official clients of one front end, without retries. */
export interface Clients {
  readonly blobs: BlobServiceClient;
  readonly queues: QueueServiceClient;
  readonly shares: ShareServiceClient;
  table(name: string): TableClient;
  readonly smb: { readonly host: string; readonly port: number };
  readonly state: FrontEndState;
  /** The URL that tells a balancer whether to send requests there. */
  readonly health: string;
}

/** What the bed does to a front end. */
export interface FrontEndState {
  readonly name: string;
  /** The worst of this round. */
  trouble: Trouble;
  /** When it answered, in this round. */
  gaps: ServiceGaps;
}

type Service = "blob" | "queue" | "table" | "file";
export type Ports = Readonly<Record<Service | "smb", number>>;

export function clientsOf(host: string, ports: Ports, state: FrontEndState): Clients {
  const once = { retryOptions: { maxTries: 1 } };
  const origin = (service: Service) => `http://${host}:${ports[service]}`;
  const at = (service: Service) => `${origin(service)}/${ACCOUNT}`;
  const key = new AzureNamedKeyCredential(ACCOUNT, KEY);
  const fileKey = new StorageSharedKeyCredential(ACCOUNT, KEY);
  const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
  return {
    blobs: new BlobServiceClient(at("blob"), CREDENTIAL, once),
    queues: new QueueServiceClient(at("queue"), CREDENTIAL, once),
    shares: new ShareServiceClient(at("file"), fileKey, once),
    table: (name) => new TableClient(at("table"), name, key, options),
    smb: { host, port: ports.smb },
    state,
    health: `${origin("blob")}/healthz?for=requests`,
  };
}

const CHECK_MS = 1_000;
const FAILED_CHECKS_MAX = 2;

/** All front ends behind a balancer, which asks each of them every second whether it is ready. */
export class Balancer {
  readonly all: readonly Clients[];
  readonly #random: Random;
  readonly #failedChecks = new Map<Clients, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(all: readonly Clients[], random: Random) {
    this.all = all;
    this.#random = random;
    // tidy-allow sleep: a balancer asks in its own time
    this.#timer = setInterval(() => {
      for (const one of all) void this.#check(one);
    }, CHECK_MS);
  }

  /** Any front end that counts as ready; any at all if none does. */
  get any(): Clients {
    const isReady = (one: Clients) => (this.#failedChecks.get(one) ?? 0) < FAILED_CHECKS_MAX;
    const ready = this.all.filter(isReady);
    return this.#random.pick(ready.length === 0 ? this.all : ready);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #check(one: Clients): Promise<void> {
    const signal = AbortSignal.timeout(CHECK_MS);
    const answer = await fetch(one.health, { signal }).catch(() => null);
    await answer?.body?.cancel().catch(() => {});
    this.#failedChecks.set(one, answer?.ok ? 0 : (this.#failedChecks.get(one) ?? 0) + 1);
  }
}
