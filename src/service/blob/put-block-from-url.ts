import type { ByteRange } from "../../base/byte-range.ts";
import { type BodyDigests, NO_DIGESTS, requireDigests } from "../../base/digests.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Digests } from "../../store/contents.ts";
import type { View } from "../../store/store.ts";
import type { Source } from "../shared/source.ts";
import { useSource } from "../shared/use-source.ts";
import type { BlobContext } from "./context.ts";
import { requireNotEmpty } from "./empty-piece.ts";
import {
  admitBlock,
  type PutBlockDone,
  type StageBlock,
  writeBlock,
  writeTaken,
} from "./put-block.ts";

export interface PutBlockFromUrl extends StageBlock {
  readonly source: Source;
  /** Null for the whole source. */
  readonly range: ByteRange | null;
  readonly bytesMax: number;
  /** The digests that the client claims for these bytes. */
  readonly digests: BodyDigests;
  /** The digests to compute: at least the ones given. Null if the bytes need not be read. */
  readonly computed: Digests | null;
}

/** Put Block with bytes from a source URL. */
export async function putBlockFromUrl(
  context: BlobContext,
  asked: PutBlockFromUrl,
): Promise<PutBlockDone> {
  const { source, range, bytesMax, digests } = asked;
  const { contents } = context;
  const admit = (view: View) => admitBlock(view, asked, BLOB_NEEDS.putBlockFromUrl);
  return useSource(context, {
    source,
    range,
    bytesMax,
    digests: asked.computed,
    key: asked.key?.bytes ?? null,
    look: admit,
    share: (tx, { content }, { from, length }) => {
      requireNotEmpty(length);
      const slice = contents.slice(tx, content, from, length);
      if (slice === null) return null;
      writeBlock(context, tx, asked, admit(tx), slice);
      return NO_DIGESTS;
    },
    keep: (tx, taken) => {
      requireNotEmpty(taken.length);
      requireDigests(digests, taken);
      writeTaken(context, tx, asked, admit(tx), taken);
      return { md5: taken.md5, crc64: taken.crc64 };
    },
  });
}
