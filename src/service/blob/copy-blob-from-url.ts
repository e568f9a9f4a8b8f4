import { type BodyDigests, NO_DIGESTS, requireDigests } from "../../base/digests.ts";
import { Fault } from "../../base/fault.ts";
import { newGuid } from "../../base/ids.ts";
import { COPY_FROM_URL_BYTES_MAX } from "../../base/limits.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Content } from "../../store/content.ts";
import type { Digests } from "../../store/contents.ts";
import type { Transaction, View } from "../../store/store.ts";
import type { Source } from "../shared/source.ts";
import { useSource } from "../shared/use-source.ts";
import type { BlobContext } from "./context.ts";
import {
  admitTarget,
  type CopiedObject,
  type CopyAsked,
  copiedType,
  copyMade,
  type Target,
  writeCopy,
} from "./copy-target.ts";
import type { BlobWritten } from "./version.ts";

export interface CopyBlobFromUrl extends CopyAsked {
  readonly source: Source;
  /** The digests that the client claims. Checking them takes reading the whole source. */
  readonly digests: BodyDigests;
  /** The digests to compute: at least the ones given. Null if the bytes need not be read. */
  readonly computed: Digests | null;
}

export interface CopyBlobFromUrlDone extends BlobWritten, BodyDigests {
  readonly copyId: string;
}

/** Copies synchronously: the copy is complete when the response is sent. */
export async function copyBlobFromUrl(
  context: BlobContext,
  asked: CopyBlobFromUrl,
): Promise<CopyBlobFromUrlDone> {
  const { source, digests } = asked;
  const { contents } = context;
  const copyId = newGuid();
  const admit = (view: View) => admitTarget(view, asked, BLOB_NEEDS.copyBlobFromUrl);
  const write = (tx: Transaction, found: CopiedObject, content: Content, taken: BodyDigests) => {
    const target = admit(tx);
    requireBlockBlobSource(target, found);
    const copy = copyMade(tx, copyId, source.url, content.length);
    const blob = writeCopy(context, tx, asked, target, found, content, copy);
    const { etag, modifiedMs, versionId } = blob;
    return { etag, modifiedMs, versionId, copyId, md5: taken.md5, crc64: taken.crc64 };
  };
  return useSource(context, {
    source,
    range: null,
    bytesMax: COPY_FROM_URL_BYTES_MAX,
    tooLarge: "CopySourceTooLarge",
    digests: asked.computed,
    look: admit,
    share: (tx, found) => {
      contents.share(tx, found.content);
      return write(tx, found, found.content, NO_DIGESTS);
    },
    keep: (tx, taken, found) => {
      requireDigests(digests, taken);
      return write(tx, found, contents.keep(tx, taken), taken);
    },
  });
}

function requireBlockBlobSource({ old }: Target, found: CopiedObject): void {
  if (copiedType(old, found) === "BlockBlob") return;
  throw new Fault("InvalidSourceBlobType", {
    Reason: `A ${found.type} is copied with Copy Blob, or read with Put Blob From URL.`,
  });
}
