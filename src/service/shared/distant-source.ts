import type { ByteRange } from "../../base/byte-range.ts";
import { Fault } from "../../base/fault.ts";
import { etagOf } from "../../base/stamp.ts";
import type { ForeignSource, OpenedSource, OwnSource, SourceObject } from "./source.ts";
import { openOwn, type SourceContext } from "./use-source.ts";

/**
 * An object of this server in another database than its copy. No transaction sees both, so it is
 * copied like an object of another server, but found and judged here.
 */
export class DistantSource implements ForeignSource {
  readonly kind = "foreign";
  readonly url: string;
  /** Describes to clients why a copy failed. */
  readonly failure: (error: unknown) => string;
  readonly #context: SourceContext;
  readonly #source: OwnSource;

  constructor(context: SourceContext, source: OwnSource, failure: (error: unknown) => string) {
    this.url = source.url;
    this.failure = failure;
    this.#context = context;
    this.#source = source;
  }

  look(): Promise<SourceObject> {
    return this.#context.store.read((view) => {
      const { content, etag, ...found } = this.#source.find(view);
      return { ...found, length: content.length, etag: etagOf(etag) };
    });
  }

  /** Opens the version that there is now: the caller compares its ETag. */
  async open(range: ByteRange | null): Promise<OpenedSource> {
    const opened = await openOwn(this.#context, this.#source, range);
    const { body } = opened;
    let isDraining = false;
    let isClosed = false;
    return {
      ...opened,
      body: {
        length: body.length,
        drain: (take) => {
          isDraining = true;
          return body.drain((part) => {
            if (isClosed) throw new Fault("NoPendingCopyOperation");
            return take(part);
          });
        },
      },
      // What is being read closes itself when reading ends, which is soon now.
      close: () => {
        isClosed = true;
        if (!isDraining) opened.close();
      },
    };
  }
}
