import { drainBorrowed } from "../../base/borrowed-buffer.ts";
import { type ByteRange, type Piece, pieceOf } from "../../base/byte-range.ts";
import type { Body, Bytes } from "../../base/bytes.ts";
import { Fault, type FaultCode } from "../../base/fault.ts";
import { etagOf } from "../../base/stamp.ts";
import type { ContentKey, Reading, Taken } from "../../store/content.ts";
import { type Contents, type Digests, INLINE_BYTES_MAX } from "../../store/contents.ts";
import type { Store, Transaction, View } from "../../store/store.ts";
import type { OpenedSource, OwnObject, OwnSource, Source, SourceObject } from "./source.ts";

/** Where a source is stored, or its copy. */
export interface SourceContext {
  readonly store: Store;
  readonly contents: Contents;
}

/** A write whose bytes come from a source. */
export interface SourceUse<T> {
  readonly source: Source;
  /** Null for all of the source. */
  readonly range: ByteRange | null;
  readonly bytesMax: number;
  /** The fault for a source with more than `bytesMax`. */
  readonly tooLarge?: FaultCode;
  /** Digests to compute; null for none, which lets bytes be shared unread. */
  readonly digests: Digests | null;
  /** The key to encrypt the bytes with; null for none. */
  readonly key?: ContentKey | null;
  /** A cheap early check. It proves nothing: the transaction that writes decides. */
  look(view: View): void;
  /**
   * Writes a reference to bytes on this server; null, with nothing written, if a copy is needed.
   */
  share(tx: Transaction, found: OwnObject, piece: Piece): T | null;
  /** Writes bytes that have been copied. */
  keep(tx: Transaction, taken: Taken, found: SourceObject): T;
}

const NO_DIGESTS: Digests = { md5: false, crc64: false };

/**
 * Writes bytes that come from a source. Bytes on this server are shared, in the same body that
 * finds and judges the source. All other bytes are copied like a request body.
 */
export async function useSource<T>(context: SourceContext, use: SourceUse<T>): Promise<T> {
  const shared = await shareSource(context, use);
  if (shared !== null) return shared;
  const { store, contents } = context;
  await store.read((view) => use.look(view));
  const opened = await openSource(context, use);
  try {
    requireSize(opened.body.length, use);
    const taken = await contents.take(opened.body, use.digests ?? NO_DIGESTS, use.key);
    try {
      return await store.transact((tx) => use.keep(tx, taken, opened));
    } finally {
      taken.release();
    }
  } finally {
    opened.close();
  }
}

async function shareSource<T>({ store }: SourceContext, use: SourceUse<T>): Promise<T | null> {
  const { source } = use;
  if (source.kind !== "own" || use.digests !== null) return null;
  return store.transact((tx) => {
    use.look(tx);
    const found = source.find(tx);
    const piece = pieceOf(found.content.length, use.range);
    requireSize(piece.length, use);
    return isSmallPart(found, piece) || isEncrypted(found, use)
      ? null
      : use.share(tx, found, piece);
  });
}

/**
 * Copies a small part of a large content, because sharing it would keep the whole content alive.
 */
function isSmallPart({ content }: OwnObject, { length }: Piece): boolean {
  return length < content.length && length <= INLINE_BYTES_MAX && content.kind !== "inline";
}

/** Bytes with a key are copied: source and target may have different ones. */
function isEncrypted<T>(found: OwnObject, use: SourceUse<T>): boolean {
  return (found.key ?? null) !== null || (use.key ?? null) !== null;
}

function requireSize<T>(length: number, { bytesMax, tooLarge }: SourceUse<T>): void {
  if (length <= bytesMax) return;
  throw new Fault(tooLarge ?? "RequestBodyTooLarge", { MaxLimit: String(bytesMax) });
}

function openSource<T>(
  context: SourceContext,
  { source, range }: SourceUse<T>,
): Promise<OpenedSource> {
  return source.kind === "own" ? openOwn(context, source, range) : source.open(range, null);
}

/** Opens an object on this server. The caller closes it, unless it has read all of it. */
export async function openOwn(
  context: SourceContext,
  source: OwnSource,
  range: ByteRange | null,
): Promise<OpenedSource> {
  const { found, piece, first } = await context.store.read((view) => {
    const found = source.find(view);
    const piece = pieceOf(found.content.length, range);
    return { found, piece, first: openPiece(context, view, found, piece) };
  });
  return {
    ...found,
    length: found.content.length,
    etag: etagOf(found.etag),
    body: new OwnBody(context, source, found, piece, first),
    close: () => first.close(),
  };
}

/** Opens as much of the piece as stays readable if the source changes meanwhile. */
function openPiece(
  { contents }: SourceContext,
  view: View,
  { content, key = null }: OwnObject,
  { from, length }: Piece,
): Reading {
  for (let most = length; ; most = Math.ceil(most / 2)) {
    const reading = contents.open(view, content, from, most, key);
    if (reading.isStable || content.kind !== "map") return reading;
    reading.close();
  }
}

/** The bytes of one version of a source. Reading fails if the source changes before its end. */
class OwnBody implements Body {
  readonly length: number;
  readonly #context: SourceContext;
  readonly #source: OwnSource;
  readonly #found: OwnObject;
  readonly #until: number;
  #from: number;
  #next: Reading;

  constructor(
    context: SourceContext,
    source: OwnSource,
    found: OwnObject,
    { from, length }: Piece,
    first: Reading,
  ) {
    this.length = length;
    this.#context = context;
    this.#source = source;
    this.#found = found;
    this.#from = from;
    this.#until = from + length;
    this.#next = first;
  }

  async drain(take: (part: Bytes) => void | Promise<void>): Promise<void> {
    for (;;) {
      const reading = this.#next;
      try {
        await drainBorrowed(reading, take);
      } finally {
        reading.close();
      }
      this.#from += reading.length;
      if (this.#from >= this.#until) return;
      this.#next = await this.#context.store.read((view) => this.#openNext(view));
    }
  }

  #openNext(view: View): Reading {
    const found = this.#source.find(view);
    if (found.etag !== this.#found.etag) {
      throw new Fault("SourceConditionNotMet", { Reason: "The source changed while it was read." });
    }
    const piece = { from: this.#from, length: this.#until - this.#from };
    return openPiece(this.#context, view, found, piece);
  }
}
