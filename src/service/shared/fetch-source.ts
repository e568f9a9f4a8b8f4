import type { Body, Bytes } from "../../base/bytes.ts";
import { Fault } from "../../base/fault.ts";
import { MIB } from "../../base/limits.ts";
import type { Contents, Taken } from "../../store/contents.ts";
import type { ForeignSource, SourceObject } from "./source.ts";

/** All bytes of something elsewhere, for a copy that goes on after its answer. */
export interface FetchSource {
  readonly source: ForeignSource;
  /** What it was when the copy began: bytes of another version are not taken. */
  readonly found: SourceObject;
  readonly signal: AbortSignal;
  /** Told now and then how many bytes have come. */
  note(bytesDone: number): Promise<void>;
}

/** How many bytes come between two notes of the progress. */
const PROGRESS_BYTES = 8 * MIB;
const NO_DIGESTS = { md5: false, crc64: false };

/** Takes the bytes, then lets `use` give them their name, all at once. */
export async function fetchSource(
  contents: Contents,
  { source, found, signal, note }: FetchSource,
  use: (taken: Taken) => Promise<void>,
): Promise<void> {
  const opened = await source.open(null, found.etag);
  const close = () => opened.close();
  signal.addEventListener("abort", close);
  try {
    signal.throwIfAborted();
    if (isChanged(found, opened)) throw new Fault("SourceConditionNotMet");
    const taken = await contents.take(noted(opened.body, note), NO_DIGESTS);
    try {
      await use(taken);
    } finally {
      taken.release();
    }
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}

/** Whoever was asked for one version may not have looked at that. */
function isChanged(found: SourceObject, opened: SourceObject): boolean {
  return opened.length !== found.length || (found.etag !== null && opened.etag !== found.etag);
}

/** The same body; now and then somebody is told how much of it has come. */
function noted(body: Body, note: (bytes: number) => Promise<void>): Body {
  let came = 0;
  let told = 0;
  return {
    length: body.length,
    drain: (take) =>
      body.drain(async (part: Bytes) => {
        await take(part);
        came += part.length;
        if (came - told < PROGRESS_BYTES) return;
        told = came;
        await note(came);
      }),
  };
}
