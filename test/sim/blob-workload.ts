import type { BlobAnswer, BlobAsked, Guards } from "./blob-words.ts";
import { PAGES } from "./page-model.ts";
import { lengthOf, PAGE_BYTES, type Piece, pieceOf, ZERO_PAGE } from "./pieces.ts";
import type { Random } from "./random.ts";
import type { Chosen, Workload } from "./simulate.ts";

const BLOCKS = ["AAAA", "BBBB", "CCCC"];
/** Few, so that clients use each other's. */
const LEASE_IDS = ["a", "b", "c"].map((at) => `${at.repeat(8)}-0000-4000-8000-000000000001`);
const LEASE_GONE = /LeaseLost|LeaseNotPresent/;
/** So few that a condition on one holds about half of the time. */
const SEQUENCES = 6;
const SNAPSHOTS_KNOWN = 3;
const NO_SNAPSHOT = "2026-11-16T00:17:23.1234567Z";
const ADVANCES_MS = [400, 5_000, 14_600, 15_000, 31_000, 61_000];

const WEIGHTS = {
  put: 20,
  "create-append": 1,
  append: 1,
  "create-page": 0.5,
  "put-page": 0.5,
  "set-sequence": 0.2,
  snapshot: 4,
  "get-snapshot": 6,
  "copy-snapshot": 8,
  "set-metadata": 9,
  delete: 4,
  stage: 12,
  commit: 1,
  get: 20,
  head: 8,
  list: 4,
  acquire: 7,
  renew: 3,
  change: 2,
  release: 3,
  break: 3,
  advance: 4,
};

type Kind = keyof typeof WEIGHTS;

/** For a blob that most clients treat as an append blob. */
const LOG_WEIGHTS = {
  ...WEIGHTS,
  put: 0.5,
  delete: 1,
  stage: 0.5,
  commit: 0.5,
  "create-append": 5,
  append: 30,
};

/** For a blob that most clients treat as a page blob. */
const DISK_WEIGHTS = {
  ...WEIGHTS,
  put: 0.2,
  delete: 1,
  stage: 0.2,
  commit: 0.2,
  "create-append": 0.1,
  "create-page": 4,
  "put-page": 30,
  "set-sequence": 14,
  "copy-snapshot": 0.5,
  acquire: 2,
};

/** What clients know of one blob. They share lease ids. */
interface Known {
  readonly weights: Readonly<Record<Kind, number>>;
  /** The last known end of an append blob. */
  end: number;
  readonly etags: Map<number, string>;
  /** The last ETag that any client got: two that use it are in a race. */
  lastEtag: string | null;
  leaseId: string | null;
  /** The latest snapshots that any client got. */
  snapshots: readonly string[];
  /** The last known sequence number of a page blob. */
  sequence: number;
}

/** Blocks that a client has staged and wants to commit. */
interface Begun {
  readonly key: string;
  readonly blocks: readonly string[];
}

const KINDS = ["blob", "blob", "disk", "log"];

/** The names of blobs, one in four of them a page blob and another an append blob. */
export function keysOf(blobs: number): string[] {
  return Array.from({ length: blobs }, (_, at) => `${KINDS[at % KINDS.length]}-${at}`);
}

function weightsOf(key: string): Known["weights"] {
  if (key.startsWith("log")) return LOG_WEIGHTS;
  return key.startsWith("disk") ? DISK_WEIGHTS : WEIGHTS;
}

/** Generates the requests of clients so that they conflict. */
export class BlobWorkload implements Workload<BlobAsked, BlobAnswer> {
  readonly #random: Random;
  readonly #known = new Map<string, Known>();
  readonly #begun = new Map<number, Begun>();
  readonly #sizes: readonly number[];
  #writes = 0;

  /** Pieces have these sizes, each as often as it is listed. */
  constructor(random: Random, keys: readonly string[], sizes: readonly number[]) {
    this.#random = random;
    this.#sizes = sizes;
    for (const key of keys) {
      const nothing = { end: 0, lastEtag: null, leaseId: null, snapshots: [], sequence: 0 };
      this.#known.set(key, { weights: weightsOf(key), etags: new Map(), ...nothing });
    }
  }

  choose(client: number): Chosen<BlobAsked> {
    const begun = this.#begun.get(client);
    if (begun !== undefined && this.#random.chance(0.7)) return this.#finish(client, begun);
    const [key, known] = this.#random.pick([...this.#known]);
    const kind = this.#random.weighted(known.weights);
    if (kind === "list") return { key: null, asked: { operation: kind } };
    if (kind === "advance") {
      return { key: null, asked: { operation: kind, byMs: this.#random.pick(ADVANCES_MS) } };
    }
    return { key, asked: this.#ask(client, kind, known) };
  }

  learn(client: number, { key, asked }: Chosen<BlobAsked>, answer: BlobAnswer | null): void {
    const known = this.#known.get(key ?? "");
    if (known === undefined || answer === null) return;
    if (answer.refused !== null) {
      if (LEASE_GONE.test(answer.refused)) known.leaseId = null;
      return;
    }
    if (answer.etag !== null) {
      known.etags.set(client, answer.etag);
      known.lastEtag = answer.etag;
    }
    if (answer.leaseId !== null) known.leaseId = answer.leaseId;
    if (asked.operation === "append") known.end = (answer.offset ?? 0) + lengthOf([asked.piece]);
    if (asked.operation === "create-append") known.end = 0;
    if (answer.sequence !== null) known.sequence = answer.sequence;
    if (answer.snapshot !== null) {
      known.snapshots = [...known.snapshots, answer.snapshot].slice(-SNAPSHOTS_KNOWN);
    }
    if (asked.operation === "stage" && key !== null) {
      const before = this.#begun.get(client);
      const blocks = before?.key === key ? before.blocks : [];
      this.#begun.set(client, { key, blocks: [...blocks, asked.block] });
    }
  }

  #ask(client: number, kind: Exclude<Kind, "list" | "advance">, known: Known): BlobAsked {
    switch (kind) {
      case "put":
        return {
          operation: kind,
          ...this.#write(),
          piece: this.#piece(),
          ...this.#guards(client, known),
        };
      case "append":
        return {
          operation: kind,
          piece: this.#piece(),
          position: this.#random.chance(0.4) ? known.end : null,
          ...this.#guards(client, known),
        };
      case "create-append":
      case "create-page":
      case "set-metadata":
        return { operation: kind, ...this.#write(), ...this.#guards(client, known) };
      case "put-page":
        return this.#putPage(client, known);
      case "set-sequence":
        return {
          operation: kind,
          name: this.#name(),
          action: this.#random.pick(["max", "update", "increment"]),
          number: this.#random.below(SEQUENCES),
          ...this.#fewGuards(client, known),
        };
      case "snapshot":
        return { operation: kind, ...this.#guards(client, known), ifNoneMatch: null };
      case "get-snapshot":
        return { operation: kind, snapshot: this.#snapshot(known) };
      case "copy-snapshot": {
        const snapshot = this.#snapshot(known);
        return { operation: kind, ...this.#write(), snapshot, leaseId: this.#leaseId(known, 0.6) };
      }
      case "delete": {
        const withSnapshots = this.#random.chance(0.6);
        return { operation: kind, withSnapshots, ...this.#guards(client, known) };
      }
      case "stage":
        return {
          operation: kind,
          block: this.#random.pick(BLOCKS),
          piece: this.#piece(),
          leaseId: this.#leaseId(known, 0.5),
        };
      case "commit":
        return this.#commit(client, known, [this.#random.pick(BLOCKS)]);
      case "get":
      case "head":
        return { operation: kind, ...this.#readGuards(client, known) };
      default:
        return this.#lease(kind, known);
    }
  }

  /** Commits the client's staged blocks, if no other client has taken them meanwhile. */
  #finish(client: number, { key, blocks }: Begun): Chosen<BlobAsked> {
    this.#begun.delete(client);
    const more = this.#random.chance(0.4) ? [this.#random.pick(BLOCKS)] : [];
    const known = this.#known.get(key) as Known;
    return { key, asked: this.#commit(client, known, [...blocks, ...more]) };
  }

  #commit(client: number, known: Known, ids: readonly string[]): BlobAsked {
    const lists = ["latest", "latest", "latest", "uncommitted", "committed"] as const;
    const blocks = ids.map((id) => ({ id, from: this.#random.pick(lists) }));
    return { operation: "commit", ...this.#write(), blocks, ...this.#guards(client, known) };
  }

  #putPage(client: number, known: Known): BlobAsked {
    const random = this.#random;
    const name = this.#name();
    const is = random.pick(["le", "lt", "eq", "eq"] as const);
    const number = known.sequence + (is === "lt" ? 1 : 0);
    return {
      operation: "put-page",
      page: random.below(PAGES),
      piece: random.chance(0.2) ? ZERO_PAGE : pieceOf(name, PAGE_BYTES),
      name,
      sequence: random.chance(0.6) ? { is, number } : null,
      ...this.#fewGuards(client, known),
    };
  }

  /** A known snapshot, or one that never existed. */
  #snapshot({ snapshots }: Known): string {
    return snapshots.length === 0 ? NO_SNAPSHOT : this.#random.pick(snapshots);
  }

  #lease(kind: "acquire" | "renew" | "change" | "release" | "break", known: Known): BlobAsked {
    const random = this.#random;
    const id = this.#leaseId(known, 0.8) ?? random.pick(LEASE_IDS);
    switch (kind) {
      case "acquire": {
        const proposed = random.chance(0.3) ? null : random.pick(LEASE_IDS);
        return { operation: kind, id: proposed, seconds: random.pick([15, 15, 30, 60, -1]) };
      }
      case "change":
        return { operation: kind, id, to: random.pick(LEASE_IDS) };
      case "break":
        return { operation: kind, seconds: random.pick([null, 0, 10, 40]) };
      default:
        return { operation: kind, id };
    }
  }

  #guards(client: number, known: Known): Guards {
    const kind = this.#random.weighted({ none: 9, match: 12, matchAny: 1, noneYet: 2 });
    return {
      ifMatch: kind === "match" ? this.#etag(client, known) : kind === "matchAny" ? "*" : null,
      ifNoneMatch: kind === "noneYet" ? "*" : null,
      leaseId: this.#leaseId(known, 0.6),
    };
  }

  /** Guards for operations with conditions of another kind. */
  #fewGuards(client: number, known: Known): Guards {
    const ifMatch = this.#random.chance(0.1) ? this.#etag(client, known) : null;
    return { ifMatch, ifNoneMatch: null, leaseId: this.#leaseId(known, 0.9) };
  }

  #readGuards(client: number, known: Known): Guards {
    const kind = this.#random.weighted({ none: 12, match: 1, changed: 3 });
    return {
      ifMatch: kind === "match" ? this.#etag(client, known) : null,
      ifNoneMatch: kind === "changed" ? this.#etag(client, known) : null,
      leaseId: this.#leaseId(known, 0.15),
    };
  }

  #etag(client: number, known: Known): string | null {
    return this.#random.chance(0.8) ? known.lastEtag : (known.etags.get(client) ?? null);
  }

  /** The last known lease id with this probability, if there is one; seldom another. */
  #leaseId(known: Known, probability: number): string | null {
    if (this.#random.chance(0.03)) return this.#random.pick(LEASE_IDS);
    return this.#random.chance(probability) ? known.leaseId : null;
  }

  #write(): { write: string } {
    return { write: `w${++this.#writes}` };
  }

  #piece(): Piece {
    return pieceOf(this.#name(), this.#random.pick(this.#sizes));
  }

  #name(): string {
    return `p${++this.#writes}`;
  }
}
