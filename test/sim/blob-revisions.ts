import { wholeBody } from "../../src/base/bytes.ts";
import type { ManualClock } from "../../src/base/clock.ts";
import { key, keyAfter, SPACE } from "../../src/base/keys.ts";
import { DAY_MS } from "../../src/base/limits.ts";
import { readWhole } from "../../src/content/whole-reading.ts";
import type { Data } from "../../src/main/open-data.ts";
import { OWNER } from "../../src/rules/access.ts";
import { NO_CONDITIONS } from "../../src/rules/conditions.ts";
import { NO_TAGS } from "../../src/rules/tags.ts";
import { appendBlock } from "../../src/service/blob/append-block.ts";
import type {
  BlobContext,
  BlobRead,
  BlobRevision,
  BlobSettings,
} from "../../src/service/blob/context.ts";
import { createBlob } from "../../src/service/blob/create-blob.ts";
import { createContainer } from "../../src/service/blob/create-container.ts";
import { type DeleteBlob, deleteBlob } from "../../src/service/blob/delete-blob.ts";
import { getBlob } from "../../src/service/blob/get-blob.ts";
import { getBlockList } from "../../src/service/blob/get-block-list.ts";
import { listBlobs } from "../../src/service/blob/list-blobs.ts";
import { putBlob } from "../../src/service/blob/put-blob.ts";
import { putBlock } from "../../src/service/blob/put-block.ts";
import { putBlockList } from "../../src/service/blob/put-block-list.ts";
import { putPage } from "../../src/service/blob/put-page.ts";
import { setBlobMetadata } from "../../src/service/blob/set-blob-metadata.ts";
import { snapshotBlob } from "../../src/service/blob/snapshot-blob.ts";
import { BlobSweep } from "../../src/service/blob/sweep.ts";
import { undeleteBlob } from "../../src/service/blob/undelete-blob.ts";
import { writeDeleteRetention } from "../../src/service/shared/delete-retention.ts";

export const PAGE_BLOB_BYTES = 2_048;

const NO_DIGESTS = { md5: null, crc64: null };
const CRC64 = { md5: false, crc64: true };
const NO_PROPERTIES = {
  contentType: "",
  contentEncoding: "",
  contentLanguage: "",
  contentDisposition: "",
  cacheControl: "",
  contentMd5: null,
};
const AT = { account: "account", container: "container" };

/** A revision as a list shows it. */
export interface Shown {
  readonly kind: "current" | "snapshot" | "version";
  readonly isDeleted: boolean;
  readonly label: string;
  /** How to request it. */
  readonly revision: BlobRevision | null;
}

/** The Blob service on one container, with the methods of the model it is compared with. */
export class RealRevisions {
  readonly clock: ManualClock;
  readonly #data: Data;
  readonly #settingsByAccount = new Map<string, BlobSettings>();
  readonly #context: BlobContext;

  constructor(data: Data, clock: ManualClock) {
    this.#data = data;
    this.clock = clock;
    this.#context = { ...data, settingsByAccount: this.#settingsByAccount };
  }

  set versioning(versioning: boolean) {
    this.#settingsByAccount.set(AT.account, { versioning, containerRetentionDays: null });
  }

  async open(): Promise<void> {
    const publicAccess = "none";
    await createContainer(this.#context, { at: AT, access: OWNER, publicAccess, metadata: [] });
  }

  /** Puts a blob. Its label is also its tag, which finds it while it is current. */
  async put(
    name: string,
    type: "BlockBlob" | "PageBlob" | "AppendBlob",
    bytes: Buffer,
    label: string,
  ) {
    const labels = [["label", label]] as const;
    const asked = {
      ...use(name),
      properties: NO_PROPERTIES,
      metadata: labels,
      tags: labels,
      tier: null,
    };
    if (type === "BlockBlob") {
      await putBlob(this.#context, { ...asked, body: wholeBody(bytes), digests: NO_DIGESTS });
    } else {
      const length = type === "PageBlob" ? PAGE_BLOB_BYTES : 0;
      await createBlob(this.#context, { ...asked, type, length, sequenceNumber: 0n });
    }
  }

  /** Commits one more block after the committed ones. */
  async block(name: string, blockId: string, bytes: Buffer, label: string): Promise<void> {
    const asked = { ...use(name), body: wholeBody(bytes), digests: NO_DIGESTS, computed: CRC64 };
    await putBlock(this.#context, { ...asked, blockId });
    const { committed } = await getBlockList(this.#context, use(name));
    const ids = [...committed.map((part) => part.name), blockId];
    await putBlockList(this.#context, {
      ...use(name),
      blocks: ids.map((id) => ({ id, from: "latest" })),
      tags: NO_TAGS,
      tier: null,
      properties: NO_PROPERTIES,
      metadata: [["label", label]],
    });
  }

  async write(name: string, type: "PageBlob" | "AppendBlob", at: number, bytes: Buffer) {
    const asked = { ...use(name), body: wholeBody(bytes), digests: NO_DIGESTS, computed: CRC64 };
    if (type === "AppendBlob") {
      await appendBlock(this.#context, { ...asked, append: { position: null, bytesMax: null } });
      return;
    }
    const range = { from: at, until: at + bytes.length };
    const sequence = { atMost: null, below: null, equal: null };
    await putPage(this.#context, { ...asked, range, sequence });
  }

  async label(name: string, label: string): Promise<void> {
    await setBlobMetadata(this.#context, { ...use(name), metadata: [["label", label]] });
  }

  async snapshot(name: string): Promise<void> {
    await snapshotBlob(this.#context, { ...use(name), metadata: null });
  }

  async delete(name: string, snapshots: DeleteBlob["snapshots"]): Promise<void> {
    await deleteBlob(this.#context, { ...use(name), snapshots, permanent: false });
  }

  async deleteRevision(name: string, revision: BlobRevision, permanent: boolean): Promise<void> {
    await deleteBlob(this.#context, { ...use(name, revision), snapshots: null, permanent });
  }

  async undelete(name: string): Promise<void> {
    await undeleteBlob(this.#context, use(name));
  }

  /** Null turns soft delete off. */
  async keepDeleted(days: number | null): Promise<void> {
    const retention = days === null ? null : { days, allowsPermanentDelete: true };
    await this.#data.store.transact((tx) =>
      writeDeleteRetention(tx, AT.account, "blob", retention),
    );
  }

  advanceDays(days: number): void {
    this.clock.advance(days * DAY_MS);
  }

  async read(name: string, revision: BlobRevision | null): Promise<Buffer> {
    const asked = { ...use(name, revision), range: null, digests: null };
    return Buffer.from(await readWhole((await getBlob(this.#context, asked)).reading));
  }

  /** Everything that a list shows of a name, in pages of this size. */
  async list(name: string, resultsMax: number): Promise<Shown[]> {
    const shown: Shown[] = [];
    let after = null;
    do {
      const pages = listBlobs(this.#context, {
        at: AT,
        access: OWNER,
        prefix: name,
        delimiter: "",
        startFrom: "",
        endBefore: "",
        after,
        resultsMax,
        tags: false,
        kinds: {
          uncommitted: true,
          snapshots: true,
          versions: true,
          deleted: true,
          versionsOnly: false,
        },
      });
      after = null;
      for await (const page of pages) {
        for (const item of page.items) {
          if (item.kind === "prefix") continue;
          const { blob, revision, deleted } = item.shown();
          const label = blob?.metadata[0]?.[1] ?? "";
          const kind = revision?.kind ?? "current";
          shown.push({ kind, isDeleted: deleted !== null, label, revision });
        }
        after = page.next;
      }
    } while (after !== null);
    return shown;
  }

  /** Counts the tags that lead to a blob. */
  countTags(): Promise<number> {
    const all = key(SPACE.blobTag);
    return this.#data.store.read((view) => view.range(all, keyAfter(all), { limit: 1_000 }).length);
  }

  async sweep(): Promise<void> {
    const blobs = new BlobSweep(this.#data);
    while (await blobs.sweep());
    while (await this.#data.contents.sweep());
  }
}

function use(blob: string, revision: BlobRevision | null = null): BlobRead {
  const at = { ...AT, blob, revision };
  return { at, access: OWNER, conditions: NO_CONDITIONS, leaseId: null };
}
