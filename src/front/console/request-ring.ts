import type { OnOutcome } from "../outcome.ts";
import { type SeenRequest, seenRequest } from "./seen-request.ts";

/** Requests that are remembered. */
const REQUESTS_MAX = 5_000;
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

/**
 * The last requests of all services, oldest first. Takes outcomes only while somebody is signed in,
 * so that nobody pays for it otherwise.
 */
export class RequestRing {
  #requests: SeenRequest[] = [];
  #count = 0;

  readonly take: OnOutcome = (outcome) => {
    this.#requests.push(seenRequest(outcome, ++this.#count));
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

  clear(): void {
    this.#requests = [];
  }
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
