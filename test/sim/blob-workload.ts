import type { BlobAnswer, BlobAsked, Guards } from "./blob-words.ts";
import { type Piece, pieceOf } from "./pieces.ts";
import type { Random } from "./random.ts";

const BLOCKS = ["AAAA", "BBBB", "CCCC"];
/** Few, so that clients come across each other's. */
const LEASE_IDS = ["a", "b", "c"].map((at) => `${at.repeat(8)}-0000-4000-8000-000000000001`);
const LEASE_GONE = /LeaseLost|LeaseNotPresent/;
const TURNS_MS = [400, 5_000, 14_600, 15_000, 31_000, 61_000];

const WEIGHTS = {
  put: 20,
  "set-metadata": 9,
  delete: 5,
  stage: 7,
  commit: 5,
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

/** What clients know of one blob. ETags are each client's own, lease ids go from hand to hand. */
interface Known {
  readonly etags: Map<number, string>;
  readonly staged: Map<number, string[]>;
  leaseId: string | null;
}

export interface Chosen {
  readonly key: string | null;
  readonly asked: BlobAsked;
}

/** Makes up what clients ask for, so that they get into each other's way. */
export class BlobWorkload {
  readonly #random: Random;
  readonly #known = new Map<string, Known>();
  readonly #sizes: readonly number[];
  #writes = 0;

  /** A content is in one of these sizes; small ones stay out of each other's way less. */
  constructor(random: Random, keys: readonly string[], sizes: readonly number[]) {
    this.#random = random;
    this.#sizes = sizes;
    for (const key of keys) {
      this.#known.set(key, { etags: new Map(), staged: new Map(), leaseId: null });
    }
  }

  choose(client: number): Chosen {
    const kind = this.#random.weighted(WEIGHTS);
    if (kind === "list") return { key: null, asked: { operation: kind } };
    if (kind === "turn") {
      return { key: null, asked: { operation: kind, byMs: this.#random.pick(TURNS_MS) } };
    }
    const [key, known] = this.#random.pick([...this.#known]);
    return { key, asked: this.#ask(client, kind, known) };
  }

  learn(client: number, { key, asked }: Chosen, answer: BlobAnswer | null): void {
    const known = this.#known.get(key ?? "");
    if (known === undefined || answer === null) return;
    if (answer.refused !== null) {
      if (LEASE_GONE.test(answer.refused)) known.leaseId = null;
      return;
    }
    if (answer.etag !== null) known.etags.set(client, answer.etag);
    if (answer.leaseId !== null) known.leaseId = answer.leaseId;
    if (asked.operation === "stage") {
      known.staged.set(client, [...(known.staged.get(client) ?? []), asked.block]);
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
        return this.#commit(client, known);
      case "get":
      case "head":
        return { operation: kind, ...this.#readGuards(client, known) };
      default:
        return this.#lease(kind, known);
    }
  }

  /** Mostly of blocks that the client has staged itself, which somebody may have taken meanwhile. */
  #commit(client: number, known: Known): BlobAsked {
    const own = known.staged.get(client) ?? [];
    known.staged.delete(client);
    const ids = own.length > 0 ? own : [this.#random.pick(BLOCKS)];
    if (this.#random.chance(0.3)) ids.push(this.#random.pick(BLOCKS));
    const lists = ["latest", "latest", "uncommitted", "committed"] as const;
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
    const etag = known.etags.get(client) ?? null;
    const kind = this.#random.weighted({ none: 8, match: 12, matchAny: 1, noneYet: 3 });
    return {
      ifMatch: kind === "match" ? etag : kind === "matchAny" ? "*" : null,
      ifNoneMatch: kind === "noneYet" ? "*" : null,
      leaseId: this.#leaseId(known, 0.5),
    };
  }

  #readGuards(client: number, known: Known): Guards {
    const etag = known.etags.get(client) ?? null;
    const kind = this.#random.weighted({ none: 12, match: 1, changed: 3 });
    return {
      ifMatch: kind === "match" ? etag : null,
      ifNoneMatch: kind === "changed" ? etag : null,
      leaseId: this.#leaseId(known, 0.15),
    };
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
