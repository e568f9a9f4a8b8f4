import { checkOrder, type Objection, timesIn } from "../../src/check/check-order.ts";
import type { Operation } from "../../src/check/operation.ts";
import { blobModel } from "./blob-model.ts";
import type { BlobAnswer, BlobAsked, BlobDone, Found } from "./blob-words.ts";
import { versionOf } from "./modelled-blob.ts";

export type BlobOperation = Operation<BlobAsked, BlobAnswer>;

/**
 * Checks whether a history of blobs can have come from a server that does one operation at a time.
 * Returns objections, or none. Blobs are checked one by one: only a listing is about several, and
 * its entry for each blob is checked.
 */
export function checkBlobs(history: readonly BlobOperation[], startMs: number): Objection[] {
  const keys = new Set(history.flatMap(({ key }) => key ?? []));
  const timesSince = timesIn(history, startMs);
  return [...keys].flatMap((key) => {
    const operations = history.flatMap((operation) => aboutKey(operation, key));
    const versions = new Versions();
    for (const operation of operations) versions.learn(operation);
    const ambiguous = versions.ambiguous.map((what) => ({ key, isProved: true, what }));
    if (ambiguous.length > 0) return ambiguous;
    return checkOrder(key, operations, blobModel(key, startMs, { ...versions, timesSince }));
  });
}

/** Advances of the clock concern every blob; so does a listing, which has a part for each. */
function aboutKey(operation: BlobOperation, key: string): BlobOperation[] {
  if (operation.key === key) return [operation];
  if (operation.key !== null) return [];
  const { answer } = operation;
  if (answer === null || answer.refused !== null || answer.listed === null) return [operation];
  const own = answer.listed[key];
  const listed = own === undefined ? {} : { [key]: own };
  return [{ ...operation, answer: { ...answer, listed } }];
}

/** Checks that an ETag names one version and one content, and that a version has one ETag. */
class Versions {
  readonly etags = new Map<string, string>();
  readonly taken = new Set<string>();
  readonly ambiguous: string[] = [];
  readonly #versions = new Map<string, string>();
  readonly #writes = new Map<string, string>();
  readonly #contents = new Map<string, string>();

  learn({ asked, answer }: BlobOperation): void {
    if (answer === null || answer.refused !== null) return;
    const { etag, pieces } = answer;
    const write = writeOf(asked);
    if (etag !== null && write !== null) {
      this.taken.add(etag);
      this.#once(this.#writes, etag, write, `ETag ${etag} was given to two writes`);
    }
    for (const { etag, version } of seenIn(answer)) {
      this.taken.add(etag);
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

/** The name of an operation that makes a new version. */
function writeOf(asked: BlobAsked): string | null {
  if ("write" in asked) return asked.write;
  if ("name" in asked) return asked.name;
  return asked.operation === "append" ? asked.piece : null;
}

/** Page blobs change in place, so a read does not distinguish their versions. */
function* seenIn({ etag, found, listed }: BlobDone): Iterable<{ etag: string; version: string }> {
  const showsVersion = (item: Found) => item.type !== "page";
  if (etag !== null && found !== null && showsVersion(found))
    yield { etag, version: versionOf(found) };
  for (const item of Object.values(listed ?? {})) {
    if (showsVersion(item)) yield { etag: item.etag, version: versionOf(item) };
  }
}
