import type { BlobAnswer, BlobAsked, Guards } from "./blob-words.ts";
import { lengthOf, type Piece, pieceOf } from "./pieces.ts";
import type { Random } from "./random.ts";
import type { Chosen, Workload } from "./simulate.ts";

const BLOCKS = ["AAAA", "BBBB", "CCCC"];
/** Few, so that clients come across each other's. */
const LEASE_IDS = ["a", "b", "c"].map((at) => `${at.repeat(8)}-0000-4000-8000-000000000001`);
const LEASE_GONE = /LeaseLost|LeaseNotPresent/;
const TURNS_MS = [400, 5_000, 14_600, 15_000, 31_000, 61_000];

const WEIGHTS = {
  put: 20,
  "create-append": 1,
  append: 1,
  "set-metadata": 9,
  delete: 4,
  stage: 9,
  commit: 1,
  get: 20,
  head: 8,
  list: 4,
  acquire: 7,
  renew: 3,
  change: 2,
  release: 3,
  break: 3,
  turn: 4,
};

type Kind = keyof typeof WEIGHTS;

/** On a blob that most clients take for an append blob. */
const LOG_WEIGHTS = {
  ...WEIGHTS,
  put: 0.5,
  delete: 1,
  stage: 0.5,
  commit: 0.5,
  "create-append": 5,
  append: 30,
};

/** What clients know of one blob. Ids of leases go from hand to hand. */
interface Known {
  readonly weights: Readonly<Record<Kind, number>>;
  /** Where an append blob ended when it was last heard of. */
  end: number;
  readonly etags: Map<number, string>;
  /** The one that was told last, to whomever: two that use it are in a race. */
  lastEtag: string | null;
  leaseId: string | null;
}

/** Blocks that a client has staged and wants to commit. */
interface Begun {
  readonly key: string;
  readonly blocks: readonly string[];
}

/** Blobs, of which one in four is an append blob. */
export function keysOf(blobs: number): string[] {
  return Array.from({ length: blobs }, (_, at) => (at % 4 === 3 ? `log-${at}` : `blob-${at}`));
}

/** Makes up what clients ask for, so that they get into each other's way. */
export class BlobWorkload implements Workload<BlobAsked, BlobAnswer> {
  readonly #random: Random;
  readonly #known = new Map<string, Known>();
  readonly #begun = new Map<number, Begun>();
  readonly #sizes: readonly number[];
  #writes = 0;

  /** Pieces have these sizes, each as often as it stands there. */
  constructor(random: Random, keys: readonly string[], sizes: readonly number[]) {
    this.#random = random;
    this.#sizes = sizes;
    for (const key of keys) {
      const weights = key.startsWith("log") ? LOG_WEIGHTS : WEIGHTS;
      this.#known.set(key, { weights, end: 0, etags: new Map(), lastEtag: null, leaseId: null });
    }
  }

  choose(client: number): Chosen<BlobAsked> {
    const begun = this.#begun.get(client);
    if (begun !== undefined && this.#random.chance(0.7)) return this.#finish(client, begun);
    const [key, known] = this.#random.pick([...this.#known]);
    const kind = this.#random.weighted(known.weights);
    if (kind === "list") return { key: null, asked: { operation: kind } };
    if (kind === "turn") {
      return { key: null, asked: { operation: kind, byMs: this.#random.pick(TURNS_MS) } };
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
    if (asked.operation === "stage" && key !== null) {
      const before = this.#begun.get(client);
      const blocks = before?.key === key ? before.blocks : [];
      this.#begun.set(client, { key, blocks: [...blocks, asked.block] });
    }
  }

  #ask(client: number, kind: Exclude<Kind, "list" | "turn">, known: Known): BlobAsked {
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
      case "set-metadata":
        return { operation: kind, ...this.#write(), ...this.#guards(client, known) };
      case "delete":
        return { operation: kind, ...this.#guards(client, known) };
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

  /** Commits what the client has staged, if nobody else has taken it meanwhile. */
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

  /** The id that was told last, if there is one, with this probability; seldom another. */
  #leaseId(known: Known, probability: number): string | null {
    if (this.#random.chance(0.03)) return this.#random.pick(LEASE_IDS);
    return this.#random.chance(probability) ? known.leaseId : null;
  }

  #write(): { write: string } {
    return { write: `w${++this.#writes}` };
  }

  #piece(): Piece {
    return pieceOf(`p${++this.#writes}`, this.#random.pick(this.#sizes));
  }
}
