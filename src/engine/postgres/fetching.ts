import { KIB, MIB } from "../../base/limits.ts";
import { nameOf } from "../sorted-items.ts";
import { byteaArray, readBytea } from "./bytea.ts";
import { type NeededPart, Needs } from "./cached-state.ts";
import type { Row } from "./driver.ts";
import type { ChangedKey, Fetch, RecordCache } from "./record-cache.ts";
import { joinKey, splitKey } from "./split-key.ts";
import { READ_KEYS, READ_RANGE_DOWN, READ_RANGE_UP } from "./statements.ts";
import type { Step } from "./wire.ts";

/** Records of a range that are fetched at once. Few more than were asked for come along. */
const RECORDS_MIN = 32;
const RECORDS_MAX = 5_000;
/** The size of values that are fetched at once, for a body that asked for a few or for many. */
const FEW = 4;
const FEW_BYTES_MAX = 64 * KIB;
const MANY_BYTES_MAX = 4 * MIB;
/** After so many rounds, a body is taken to walk through a long range. */
const ROUNDS_MAX = 6;

/** A body that waits for records, with the number of times that it has run already. */
export interface Needy {
  readonly needs: Needs;
  readonly rounds: number;
}

/** The statements that fetch what bodies need, and what to make of their answers. */
export class Fetching {
  readonly steps: Step[] = [];
  readonly #needs = new Needs();
  readonly #limits: number[] = [];

  constructor(bodies: Iterable<Needy>, cache: RecordCache) {
    const parts = new Set<string>();
    for (const { needs, rounds } of bodies) {
      for (const [name, key] of needs.keys) this.#needs.keys.set(name, key);
      for (const part of needs.parts) {
        const same = `${part.reverse} ${nameOf(part.from)} ${nameOf(part.until)}`;
        if (!parts.has(same)) this.#addPart(part, rounds, cache);
        parts.add(same);
      }
    }
    this.#addKeys();
  }

  /** Teaches the cache what the answers to `steps` say, which are as of a commit. */
  learn(cache: RecordCache, fetch: Fetch, number: number, answers: readonly Row[][]): void {
    this.#needs.parts.forEach((part, at) => {
      learnPart(cache, fetch, number, part, answers[at] ?? [], this.#limits[at] ?? 0);
    });
    const keys = [...this.#needs.keys.values()];
    const found = new Map(
      answers[this.#needs.parts.length]?.map(([at, value]) => [Number(at), value]),
    );
    keys.forEach((key, at) => {
      const value = found.get(at);
      cache.learnKey(fetch, number, key, value == null ? null : readBytea(value));
    });
  }

  #addPart(part: NeededPart, rounds: number, cache: RecordCache): void {
    const { from, until, reverse, limit } = part;
    const ahead = cache.recordsAhead({ from: nameOf(from), until: nameOf(until) }, reverse);
    const few = Math.max(RECORDS_MIN, limit + 1) * 2 ** Math.min(rounds, ROUNDS_MAX);
    const records = Math.min(Math.max(few, ahead), RECORDS_MAX);
    const bytes = limit <= FEW ? FEW_BYTES_MAX : MANY_BYTES_MAX;
    const [first, end] = [splitKey(from), splitKey(until)];
    this.#needs.parts.push(part);
    this.#limits.push(records);
    this.steps.push({
      statement: reverse ? READ_RANGE_DOWN : READ_RANGE_UP,
      values: [first.head, first.rest, end.head, end.rest, `${records}`, `${bytes}`],
    });
  }

  #addKeys(): void {
    if (this.#needs.keys.size === 0) return;
    const split = [...this.#needs.keys.values()].map(splitKey);
    const heads = byteaArray(split.map(({ head }) => head));
    const digests = byteaArray(split.map(({ digest }) => digest));
    this.steps.push({ statement: READ_KEYS, values: [heads, digests] });
  }
}

function learnPart(
  cache: RecordCache,
  fetch: Fetch,
  number: number,
  { from, until, reverse }: NeededPart,
  rows: readonly Row[],
  limit: number,
): void {
  const records = rows.map(([head, rest, value]): ChangedKey => {
    const key = joinKey(readBytea(head as string), readBytea(rest as string));
    return { key, value: value == null ? undefined : readBytea(value) };
  });
  const last = records.at(-1);
  const range = { from: nameOf(from), until: nameOf(until) };
  if (last !== undefined && rows.length >= limit) {
    const name = nameOf(last.key);
    if (reverse) range.from = name;
    else range.until = `${name}\0`;
  }
  cache.learnRange(fetch, number, range, records);
}
