import type { ByteRange } from "../../base/byte-range.ts";
import { type BodyDigests, NO_DIGESTS, requireDigests } from "../../base/digests.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Digests } from "../../store/contents.ts";
import type { View } from "../../store/store.ts";
import type { Source } from "../shared/source.ts";
import { useSource } from "../shared/use-source.ts";
import { type Append, type AppendBlockDone, admitAppend, writeAppended } from "./append-block.ts";
import type { BlobContext } from "./context.ts";
import { requireNotEmpty } from "./empty-piece.ts";

export interface AppendBlockFromUrl extends Append {
  readonly source: Source;
  /** Null for the whole source. */
  readonly range: ByteRange | null;
  readonly bytesMax: number;
  /** The digests that the client claims for these bytes. */
  readonly digests: BodyDigests;
  /** The digests to compute: at least the ones given. Null if the bytes need not be read. */
  readonly computed: Digests | null;
}

/** Append Block with bytes from a source URL. */
export async function appendBlockFromUrl(
  context: BlobContext,
  asked: AppendBlockFromUrl,
): Promise<AppendBlockDone> {
  const { source, range, bytesMax, digests } = asked;
  const { maps } = context.contents;
  const admit = (view: View, length: number) =>
    admitAppend(view, asked, BLOB_NEEDS.appendBlockFromUrl, length);
  return useSource(context, {
    source,
    range,
    bytesMax,
    digests: asked.computed,
    key: asked.key?.bytes ?? null,
    look: (view) => admit(view, 0),
    share: (tx, found, { from, length }) => {
      requireNotEmpty(length);
      const admitted = admit(tx, length);
      const { content } = admitted.blob;
      const next = maps.place(tx, content, content.length, found.content, from, length);
      return next && writeAppended(tx, admitted, next, NO_DIGESTS);
    },
    keep: (tx, taken) => {
      requireNotEmpty(taken.length);
      requireDigests(digests, taken);
      const admitted = admit(tx, taken.length);
      const { content } = admitted.blob;
      const next = maps.append(tx, content, taken);
      return writeAppended(tx, admitted, next, taken);
    },
  });
}
