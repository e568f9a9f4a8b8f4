import type { Body, Bytes } from "../../base/bytes.ts";
import { Fault } from "../../base/fault.ts";
import { MIB } from "../../base/limits.ts";
import type { Taken } from "../../store/content.ts";
import type { Contents } from "../../store/contents.ts";
import type { ForeignSource, SourceObject } from "./source.ts";

/** A copy of all bytes of a foreign source, which goes on after the request was answered. */
export interface FetchSource {
  readonly source: ForeignSource;
  /** The source as it was when the copy began. Bytes of another version are not copied. */
  readonly found: SourceObject;
  readonly signal: AbortSignal;
  /** Called from time to time with the number of bytes copied so far. */
  note(bytesDone: number): Promise<void>;
  /** Records that the copy succeeded, and the bytes with it. */
  succeed(taken: Taken): Promise<void>;
  /** Records that the copy failed. */
  fail(description: string): Promise<void>;
}

/** Bytes between two notes of the progress. */
const PROGRESS_BYTES = 8 * MIB;
const NO_DIGESTS = { md5: false, crc64: false };

/**
 * Fetches all bytes, then calls `succeed` once, or `fail`. Calls neither after an abort: the
 * request that aborted the copy has recorded its end, or the next start of the server does.
 */
export async function fetchSource(contents: Contents, copy: FetchSource): Promise<void> {
  try {
    await fetch(contents, copy);
  } catch (error) {
    if (!copy.signal.aborted) await copy.fail(copy.source.failure(error));
  }
}

async function fetch(
  contents: Contents,
  { source, found, signal, note, succeed }: FetchSource,
): Promise<void> {
  const opened = await source.open(null, found.etag);
  const close = () => opened.close();
  signal.addEventListener("abort", close);
  try {
    signal.throwIfAborted();
    if (isChanged(found, opened)) throw new Fault("SourceConditionNotMet");
    const taken = await contents.take(withProgress(opened.body, note), NO_DIGESTS);
    try {
      await succeed(taken);
    } finally {
      taken.release();
    }
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}

/** Checks the opened source too, because a server may ignore the condition on its ETag. */
function isChanged(found: SourceObject, opened: SourceObject): boolean {
  return opened.length !== found.length || (found.etag !== null && opened.etag !== found.etag);
}

/** Wraps a body so that it reports its progress. */
function withProgress(body: Body, note: (bytes: number) => Promise<void>): Body {
  let done = 0;
  let reported = 0;
  return {
    length: body.length,
    drain: (take) =>
      body.drain(async (part: Bytes) => {
        await take(part);
        done += part.length;
        if (done - reported < PROGRESS_BYTES) return;
        reported = done;
        await note(done);
      }),
  };
}
