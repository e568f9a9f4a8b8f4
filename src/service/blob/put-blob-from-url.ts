import type { Bytes } from "../../base/bytes.ts";
import { type BodyDigests, requireDigests } from "../../base/digests.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeUploadByConditions } from "../../rules/conditions.ts";
import { tierOnUpload } from "../../rules/tier.ts";
import type { Content } from "../../store/content.ts";
import type { Digests } from "../../store/contents.ts";
import type { Transaction, View } from "../../store/store.ts";
import type { Source, SourceObject } from "../shared/source.ts";
import { useSource } from "../shared/use-source.ts";
import { admitBlobCreation } from "./admit.ts";
import type { BlobContext, BlobCreation } from "./context.ts";
import { encryptedFields } from "./encryption.ts";
import { replaceBlob } from "./history.ts";
import { type BlobProperties, type Metadata, NEW_BLOB } from "./records.ts";
import { dropStagedBlocks } from "./staged-blocks.ts";
import { type BlobWritten, nextRevision } from "./version.ts";

export interface PutBlobFromUrl extends BlobCreation {
  readonly copiesTags: boolean;
  readonly source: Source;
  readonly bytesMax: number;
  /** The digests that the client claims for the source. */
  readonly digests: BodyDigests;
  /** The digests to compute: at least the ones given. Null if the bytes need not be read. */
  readonly computed: Digests | null;
  readonly properties: BlobProperties;
  /** Whether properties that are not given are copied from the source. */
  readonly copiesProperties: boolean;
  readonly metadata: Metadata;
}

export interface PutBlobFromUrlDone extends BlobWritten, BodyDigests {}

/** Creates a block blob from the bytes of a source, whatever its type. */
export async function putBlobFromUrl(
  context: BlobContext,
  asked: PutBlobFromUrl,
): Promise<PutBlobFromUrlDone> {
  const { source, digests } = asked;
  const { contents } = context;
  const admit = (view: View) => {
    const need = BLOB_NEEDS.putBlobFromUrl;
    return admitBlobCreation(view, asked, need, null, judgeUploadByConditions);
  };
  const write = (
    tx: Transaction,
    found: SourceTags,
    properties: BlobProperties,
    content: Content,
    crc64: Bytes | null,
  ) => {
    const { place, old } = admit(tx);
    const type = "BlockBlob";
    const tags = asked.copiesTags ? found.tags : asked.tags;
    const tier = tierOnUpload(asked.tier, old?.tier ?? null, tx.now());
    const written = nextRevision(context, tx, place, old);
    const next = {
      ...NEW_BLOB,
      ...written,
      type,
      content,
      properties,
      ...encryptedFields(asked.metadata, asked),
      tags,
      tier,
    } as const;
    replaceBlob(context, tx, place, old, next);
    dropStagedBlocks(tx, place);
    const { etag, modifiedMs, versionId } = written;
    return { etag, modifiedMs, versionId, md5: properties.contentMd5, crc64 };
  };
  return useSource(context, {
    source,
    range: null,
    bytesMax: asked.bytesMax,
    tooLarge: "CopySourceTooLarge",
    digests: wanted(asked),
    key: asked.key?.bytes ?? null,
    look: admit,
    share: (tx, found) => {
      contents.share(tx, found.content);
      return write(tx, found, propertiesOf(asked, found.properties), found.content, null);
    },
    keep: (tx, taken, found) => {
      requireDigests(digests, taken);
      requireDigests({ md5: asked.properties.contentMd5, crc64: null }, taken);
      const properties = propertiesOf(asked, found.properties);
      const { md5, crc64 } = taken;
      return write(tx, found, { ...properties, contentMd5: md5 }, contents.keep(tx, taken), crc64);
    },
  });
}

type SourceTags = Pick<SourceObject, "tags">;

/** Computes an MD5 to check a given one, and always for bytes that are fetched anyway. */
function wanted({ source, computed, properties }: PutBlobFromUrl): Digests | null {
  const isGiven = computed !== null || properties.contentMd5 !== null;
  if (source.kind !== "foreign" && !isGiven) return null;
  return { md5: true, crc64: computed?.crc64 ?? false };
}

function propertiesOf({ properties, copiesProperties }: PutBlobFromUrl, found: BlobProperties) {
  if (!copiesProperties) return properties;
  return {
    contentType: properties.contentType || found.contentType,
    contentEncoding: properties.contentEncoding || found.contentEncoding,
    contentLanguage: properties.contentLanguage || found.contentLanguage,
    contentDisposition: properties.contentDisposition || found.contentDisposition,
    cacheControl: properties.cacheControl || found.cacheControl,
    contentMd5: properties.contentMd5 ?? found.contentMd5,
  };
}
