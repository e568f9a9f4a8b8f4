import type { OnOutcome, RestOutcome, RestServiceName, SentRequest } from "../outcome.ts";
import type { Leaser } from "./answers.ts";
import { type SeenRequest, seenRequest } from "./seen-request.ts";

/** Requests that are remembered. */
const REQUESTS_MAX = 5_000;
/** Refused requests that are remembered as they were sent. */
const REFUSED_MAX = 100;
/** As many as a list of holders has. */
const LEASERS_MAX = 5_000;
const ETAGS_MAX = 5_000;
/** Requests to the same object that an explanation shows. */
const BEFORE_MAX = 20;

/** From here on, an NT status is an error. */
const SMB_ERROR_MIN = 0xc000_0000;

/** A refused request, and what others did to the same object. */
export interface Explained {
  readonly request: SeenRequest;
  /** The write that this one lost against; null if it is not among the remembered requests. */
  readonly winner: SeenRequest | null;
  /** Requests to the same object before it, the latest first. */
  readonly before: readonly SeenRequest[];
}

/** A request that was refused for its credentials. It contains its signature: nobody may see it. */
export interface RefusedRequest {
  readonly service: RestServiceName;
  readonly sent: SentRequest;
}

/**
 * The last requests of all services, oldest first. Takes outcomes only while somebody is signed in,
 * so that nobody pays for it otherwise.
 */
export class RequestRing {
  #requests: SeenRequest[] = [];
  /** Requests that were refused for their credentials, by number. They contain signatures. */
  readonly #refused = new Map<number, RefusedRequest>();
  /** By object, the latest last. They stay when the requests themselves are forgotten. */
  readonly #leasers = new Map<string, Leaser>();
  /** Of objects, as the last answers told them. */
  readonly #etags = new Map<string, string>();
  readonly #etagOf = (object: string) => this.#etags.get(object) ?? null;
  #count = 0;

  readonly take: OnOutcome = (outcome) => {
    const request = seenRequest(outcome, ++this.#count, this.#etagOf);
    this.#requests.push(request);
    if (outcome.service !== "smb") {
      this.#keepRefused(outcome);
      this.#keepLeaser(request);
      this.#keepEtag(request);
    }
    // Removes many at a time: moving the rest costs as much for one.
    if (this.#requests.length >= 2 * REQUESTS_MAX) {
      this.#requests = this.#requests.slice(-REQUESTS_MAX);
    }
  };

  /** Requests after this number, oldest first: the last ones, if there are more than `limit`. */
  after(number: number, limit: number): readonly SeenRequest[] {
    const first = this.#requests[0]?.number ?? 1;
    const from = Math.max(0, number + 1 - first, this.#requests.length - limit);
    return this.#requests.slice(from);
  }

  get last(): number {
    return this.#count;
  }

  /** Null if the request is no longer remembered. */
  explain(number: number): Explained | null {
    const at = number - (this.#requests[0]?.number ?? 1);
    const request = this.#requests[at];
    if (request === undefined) return null;
    const before = this.#requests
      .slice(0, at)
      .filter(({ object }) => object === request.object)
      .reverse();
    const winner = before.find((other) => isSuccess(other) && hasWon(other, request)) ?? null;
    return { request, winner, before: before.slice(0, BEFORE_MAX) };
  }

  /** The request as it was sent, to be judged once more; null if it is not remembered. */
  refused(number: number): RefusedRequest | null {
    return this.#refused.get(number) ?? null;
  }

  /** The client that acquired or renewed the lease of an object last; null if that is unknown. */
  leaserOf(object: string): Leaser | null {
    return this.#leasers.get(object) ?? null;
  }

  clear(): void {
    this.#requests = [];
    this.#refused.clear();
    this.#leasers.clear();
    this.#etags.clear();
  }

  #keepEtag({ status, object, etag }: SeenRequest): void {
    if (etag === null || status >= 300) return;
    this.#etags.delete(object);
    this.#etags.set(object, etag);
    forgetOldest(this.#etags, ETAGS_MAX);
  }

  #keepLeaser({ operation, status, object, remoteAddress, agent, atMs }: SeenRequest): void {
    if (!operation.startsWith("Lease") || status >= 300) return;
    this.#leasers.delete(object);
    this.#leasers.set(object, { address: remoteAddress, agent, atMs });
    forgetOldest(this.#leasers, LEASERS_MAX);
  }

  #keepRefused({ service, status, batchId, details }: RestOutcome): void {
    // Inside of a batch, a request lacks what it shares with the others.
    if ((status !== 401 && status !== 403) || batchId !== null) return;
    const sent = details().sent();
    if (sent === null) return;
    this.#refused.set(this.#count, { service, sent });
    forgetOldest(this.#refused, REFUSED_MAX);
  }
}

function forgetOldest<Key>(known: Map<Key, unknown>, max: number): void {
  if (known.size <= max) return;
  const [oldest] = known.keys();
  known.delete(oldest as Key);
}

/** Whether an earlier request can be the reason for the refusal of a later one. */
function hasWon({ operation, isWrite }: SeenRequest, { code }: SeenRequest): boolean {
  if (!isWrite) return false;
  const isLease = operation.startsWith("Lease");
  if (code?.startsWith("Lease")) return isLease;
  if (code?.includes("SharingViolation") || code?.includes("SHARING_VIOLATION")) {
    return operation === "Create";
  }
  // Leasing changes no ETag.
  return !isLease;
}

function isSuccess({ service, status }: SeenRequest): boolean {
  return service === "smb" ? status < SMB_ERROR_MIN : status < 300;
}
