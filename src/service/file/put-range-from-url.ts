import type { ByteRange } from "../../base/byte-range.ts";
import type { Bytes } from "../../base/bytes.ts";
import { type BodyDigests, digestsToTake, NO_DIGESTS, requireDigests } from "../../base/digests.ts";
import { Fault } from "../../base/fault.ts";
import { PUT_RANGE_BYTES_MAX } from "../../base/limits.ts";
import type { Source } from "../shared/source.ts";
import { useSource } from "../shared/use-source.ts";
import type { FileContext } from "./context.ts";
import { isShown } from "./preserved-records.ts";
import { admitRangeWrite, changeRange, type PutRangeDone, type RangeWrite } from "./put-range.ts";

export interface PutRangeFromUrl extends RangeWrite {
  readonly source: Source;
  /** As long as the range that is written. */
  readonly sourceRange: ByteRange;
  /** The digests of these bytes according to the client. */
  readonly digests: BodyDigests;
  /** CRC-64 that the bytes must have, or must not have; null for no condition. */
  readonly ifMatchCrc64: Bytes | null;
  readonly ifNoneMatchCrc64: Bytes | null;
}

/** Writes a range with bytes from another file or blob. */
export async function putRangeFromUrl(
  context: FileContext,
  asked: PutRangeFromUrl,
): Promise<PutRangeDone> {
  const { source, sourceRange, from } = asked;
  const { maps } = context.contents;
  return useSource(context, {
    source,
    range: sourceRange,
    bytesMax: PUT_RANGE_BYTES_MAX,
    digests: wantedDigests(asked),
    look: (view) => admitRangeWrite(view, asked),
    share: (tx, found, piece) => {
      requireLength(asked, piece.length);
      const { tree, file } = admitRangeWrite(tx, asked);
      // A file that a snapshot shows is preserved before it changes. That could not be undone if
      // `place` then finds that a copy is needed.
      if (isShown(tree, file)) return null;
      const { content } = found;
      const placed = maps.place(tx, file.content, from, content, piece.from, piece.length);
      return placed && { ...changeRange(context, tx, asked, () => placed), ...NO_DIGESTS };
    },
    keep: (tx, taken) => {
      requireLength(asked, taken.length);
      requireDigests(asked.digests, taken);
      requireCrc64(asked, taken.crc64);
      const done = changeRange(context, tx, asked, (content) =>
        maps.write(tx, content, from, taken),
      );
      return { ...done, md5: taken.md5, crc64: taken.crc64 };
    },
  });
}

function wantedDigests({ digests, ifMatchCrc64, ifNoneMatchCrc64 }: PutRangeFromUrl) {
  const isConditional = ifMatchCrc64 !== null || ifNoneMatchCrc64 !== null;
  if (!isConditional) return digestsToTake(digests);
  return { md5: digests.md5 !== null, crc64: true };
}

function requireCrc64(
  { ifMatchCrc64, ifNoneMatchCrc64 }: PutRangeFromUrl,
  crc64: Bytes | null,
): void {
  if (crc64 === null) return;
  const isOther = ifMatchCrc64 !== null && !ifMatchCrc64.equals(crc64);
  if (isOther || ifNoneMatchCrc64?.equals(crc64)) throw new Fault("SourceConditionNotMet");
}

/** A source may end before the requested range does. */
function requireLength({ from, until }: PutRangeFromUrl, length: number): void {
  if (length === until - from) return;
  throw new Fault("InvalidRange", { Reason: `The source has ${length} bytes in this range.` });
}
