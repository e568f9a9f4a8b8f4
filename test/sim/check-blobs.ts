import { blobModel, versionOf } from "./blob-model.ts";
import type { BlobAnswer, BlobAsked, BlobDone } from "./blob-words.ts";
import type { Operation } from "./history.ts";
import { type DeadEnd, linearize } from "./linearize.ts";

export type BlobOperation = Operation<BlobAsked, BlobAnswer>;

/** Far more than a correct history takes (about as many as it has writes). */
const STATES_MAX = 200_000;

/**
 * Decides whether a history of blobs can have come from a server that does one operation at a time;
 * says what speaks against it, or nothing. Blobs are judged one by one: only a listing is about
 * several, and it is judged by what it says of each.
 */
export function checkBlobs(history: readonly BlobOperation[], startMs: number): string[] {
  const keys = new Set(history.flatMap(({ key }) => key ?? []));
  return [...keys].flatMap((key) => {
    const operations = history.flatMap((operation) => aboutKey(operation, key));
    const versions = new Versions();
    for (const operation of operations) versions.learn(operation);
    const ambiguous = versions.ambiguous.map((what) => `${key}: ${what}`);
    return ambiguous.length > 0 ? ambiguous : checkOrder(key, operations, startMs, versions.etags);
  });
}

function checkOrder(
  key: string,
  operations: readonly BlobOperation[],
  startMs: number,
  etags: ReadonlyMap<string, string>,
): string[] {
  const verdict = linearize(blobModel(key, startMs, etags), operations, STATES_MAX);
  switch (verdict.kind) {
    case "explained":
      return [];
    case "undecided":
      return [`${key}: undecided after ${verdict.statesSeen} states; make the history shorter`];
    case "unexplained":
      return [`${key}: ${describeDeadEnd(operations.length, verdict.dead)}`];
  }
}

/** Turns of the clock are about every blob, and so is a listing, which has a part for each. */
function aboutKey(operation: BlobOperation, key: string): BlobOperation[] {
  if (operation.key === key) return [operation];
  if (operation.key !== null) return [];
  const { answer } = operation;
  if (answer === null || answer.refused !== null || answer.listed === null) return [operation];
  const own = answer.listed[key];
  const listed = own === undefined ? {} : { [key]: own };
  return [{ ...operation, answer: { ...answer, listed } }];
}

/** An ETag names one version and one content, and a version has one ETag. */
class Versions {
  readonly etags = new Map<string, string>();
  readonly ambiguous: string[] = [];
  readonly #versions = new Map<string, string>();
  readonly #writes = new Map<string, string>();
  readonly #contents = new Map<string, string>();

  learn({ asked, answer }: BlobOperation): void {
    if (answer === null || answer.refused !== null) return;
    const { etag, pieces } = answer;
    if (etag !== null && "write" in asked) {
      this.#once(this.#writes, etag, asked.write, `ETag ${etag} was given to two writes`);
    }
    for (const { etag, version } of seenIn(answer)) {
      this.#once(this.#versions, etag, version, `ETag ${etag} names two versions`);
      this.#once(this.etags, version, etag, `version ${version} has two ETags`);
    }
    if (etag !== null && pieces !== null) {
      this.#once(this.#contents, etag, pieces.join(), `ETag ${etag} names two contents`);
    }
  }

  #once(known: Map<string, string>, name: string, value: string, otherwise: string): void {
    const before = known.get(name) ?? value;
    known.set(name, before);
    if (before !== value) this.ambiguous.push(`${otherwise}: ${before} and ${value}`);
  }
}

function* seenIn({ etag, found, listed }: BlobDone): Iterable<{ etag: string; version: string }> {
  if (etag !== null && found !== null) yield { etag, version: versionOf(found) };
  for (const item of Object.values(listed ?? {})) {
    yield { etag: item.etag, version: versionOf(item) };
  }
}

function describeDeadEnd(
  operations: number,
  { explained, state, next }: DeadEnd<unknown, BlobAsked, BlobAnswer>,
): string {
  const lines = next.map(
    ({ client, invoked, returned, asked, answer }) =>
      `  client ${client}, ${invoked} to ${returned}: ${JSON.stringify(asked)}` +
      ` was answered ${JSON.stringify(answer)}`,
  );
  return [
    `no order explains more than ${explained} of ${operations} operations. It ends at`,
    `  ${JSON.stringify(state)}, where none of these fits in a way that leads on:`,
    ...lines,
  ].join("\n");
}
