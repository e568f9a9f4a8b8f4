import type { ByteRange } from "../../base/byte-range.ts";
import { type BodyDigests, NO_DIGESTS, requireDigests } from "../../base/digests.ts";
import { Fault } from "../../base/fault.ts";
import { PUT_PAGE_BYTES_MAX } from "../../base/limits.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Digests } from "../../store/contents.ts";
import type { View } from "../../store/store.ts";
import type { Source } from "../shared/source.ts";
import { useSource } from "../shared/use-source.ts";
import type { BlobContext } from "./context.ts";
import { admitPageWrite, type PageWrite, type PutPageDone, writePages } from "./put-page.ts";

export interface PutPageFromUrl extends PageWrite {
  readonly source: Source;
  /** Has the length of the pages to write. */
  readonly sourceRange: ByteRange;
  /** The digests that the client claims for these bytes. */
  readonly digests: BodyDigests;
  /** The digests to compute: at least the ones given. Null if the bytes need not be read. */
  readonly computed: Digests | null;
}

/** Put Page with bytes from a source URL. */
export async function putPageFromUrl(
  context: BlobContext,
  asked: PutPageFromUrl,
): Promise<PutPageDone> {
  const { source, sourceRange, digests } = asked;
  const { from: at } = asked.range;
  const { maps } = context.contents;
  const admit = (view: View) => admitPageWrite(view, asked, BLOB_NEEDS.putPageFromUrl);
  return useSource(context, {
    source,
    range: sourceRange,
    bytesMax: PUT_PAGE_BYTES_MAX,
    digests: asked.computed,
    key: asked.key?.bytes ?? null,
    look: admit,
    share: (tx, found, { from, length }) => {
      requireLength(asked, length);
      const admitted = admit(tx);
      const next = maps.place(tx, admitted.blob.content, at, found.content, from, length);
      return next && { ...writePages(tx, admitted, next), ...NO_DIGESTS };
    },
    keep: (tx, taken) => {
      requireLength(asked, taken.length);
      requireDigests(digests, taken);
      const admitted = admit(tx);
      const next = maps.write(tx, admitted.blob.content, at, taken);
      const { md5, crc64 } = taken;
      return { ...writePages(tx, admitted, next), md5, crc64 };
    },
  });
}

/** A source may end within the requested range. */
function requireLength({ range }: PutPageFromUrl, length: number): void {
  if (length === range.until - range.from) return;
  throw new Fault("InvalidRange", { Reason: `The source has ${length} bytes in this range.` });
}
