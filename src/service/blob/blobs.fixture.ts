import assert from "node:assert/strict";
import type { AnyOf } from "../../base/any-of.fixture.ts";
import { type Body, type Bytes, wholeBody } from "../../base/bytes.ts";
import { ManualClock } from "../../base/clock.ts";
import { Fault, type FaultCode } from "../../base/fault.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { OWNER } from "../../rules/access.ts";
import { NO_CONDITIONS } from "../../rules/conditions.ts";
import { gather } from "../../store/bodies.fixture.ts";
import type { Store } from "../../store/store.ts";
import { writeDeleteRetention } from "../shared/delete-retention.ts";
import {
  bytesInExtents,
  type DataOptions,
  openServiceData,
  type ServiceData,
} from "../shared/service-data.fixture.ts";
import {
  type BlobContext,
  type BlobRead,
  type BlobRevision,
  type BlobSettings,
  settingsOf,
} from "./context.ts";
import { createContainer } from "./create-container.ts";
import { type DeleteBlob, deleteBlob } from "./delete-blob.ts";
import { type GetBlobDone, getBlob } from "./get-blob.ts";
import { type PutBlob, putBlob } from "./put-blob.ts";
import { type PutBlock, putBlock } from "./put-block.ts";
import { putBlockList } from "./put-block-list.ts";
import type { BlobProperties } from "./records.ts";
import { snapshotBlob } from "./snapshot-blob.ts";
import { BlobSweep } from "./sweep.ts";

export const NO_PROPERTIES: BlobProperties = {
  contentType: "",
  contentEncoding: "",
  contentLanguage: "",
  contentDisposition: "",
  cacheControl: "",
  contentMd5: null,
};

/** What bodies take with their checksums, in whole sectors. */
const STORED_PART_MAX = 1.05;

export const LEASE_ID = "aaaaaaaa-0000-4000-8000-000000000001";

/** A container in its own store, with shorthands for the blob operations that tests use. */
export class Blobs {
  readonly clock: ManualClock;
  readonly #data: AnyOf<ServiceData>;
  readonly #settingsByAccount = new Map<string, BlobSettings>();

  private constructor(clock: ManualClock, data: AnyOf<ServiceData>) {
    this.clock = clock;
    this.#data = data;
  }

  static async open(isDataLake = false, options?: DataOptions): Promise<Blobs> {
    const clock = new ManualClock(1_700_000_000_000);
    const blobs = new Blobs(clock, await openServiceData(clock, options));
    await createContainer(blobs.context, {
      at: { account: "account", container: "container" },
      access: OWNER,
      publicAccess: "none",
      metadata: [],
      isDataLake,
    });
    return blobs;
  }

  /** Of another front end at each use. */
  get context(): BlobContext & ServiceData {
    return { ...this.#data.next(), settingsByAccount: this.#settingsByAccount };
  }

  get store(): Store {
    return this.#data.next().store;
  }

  get settings(): BlobSettings {
    return settingsOf(this.context, "account");
  }

  set settings(changed: BlobSettings) {
    this.#settingsByAccount.set("account", changed);
  }

  /** A container with directories. */
  static openHierarchical(options?: DataOptions): Promise<Blobs> {
    return Blobs.open(true, options);
  }

  use(blob: string, revision: BlobRevision | null = null): BlobRead {
    return {
      at: { account: "account", container: "container", blob, revision },
      access: OWNER,
      conditions: NO_CONDITIONS,
      leaseId: null,
    };
  }

  put(blob: string, body: string | Bytes | Body, more: Partial<PutBlob> = {}) {
    return putBlob(this.context, {
      ...this.use(blob),
      body: bodyOf(body),
      digests: { md5: null, crc64: null },
      properties: NO_PROPERTIES,
      metadata: [],
      tags: [],
      tier: null,
      ...more,
    });
  }

  stage(blob: string, blockId: string, body: string | Bytes | Body, more: Partial<PutBlock> = {}) {
    return putBlock(this.context, {
      ...this.use(blob),
      blockId,
      body: bodyOf(body),
      digests: { md5: null, crc64: null },
      computed: { md5: false, crc64: true },
      ...more,
    });
  }

  commit(blob: string, ids: readonly string[], context: BlobContext = this.context) {
    return putBlockList(context, {
      ...this.use(blob),
      blocks: ids.map((id) => ({ id, from: "latest" })),
      properties: NO_PROPERTIES,
      metadata: [],
      tags: [],
      tier: null,
    });
  }

  delete(blob: string, more: Partial<DeleteBlob> = {}) {
    return deleteBlob(this.context, {
      ...this.use(blob),
      snapshots: null,
      permanent: false,
      ...more,
    });
  }

  /** Takes a snapshot and returns the revision to read it by. */
  async snapshot(blob: string): Promise<BlobRevision> {
    const done = await snapshotBlob(this.context, { ...this.use(blob), metadata: null });
    return { kind: "snapshot", stamp: done.snapshot };
  }

  open(blob: string, revision: BlobRevision | null = null): Promise<GetBlobDone> {
    return getBlob(this.context, { ...this.use(blob, revision), range: null, digests: null });
  }

  async text(blob: string, revision: BlobRevision | null = null): Promise<string> {
    return (await bytesOf(await this.open(blob, revision))).toString();
  }

  /** Switches soft delete on, or off with null. */
  async keepDeleted(days: number | null): Promise<void> {
    const retention = days === null ? null : { days, allowsPermanentDelete: true };
    await this.store.transact((tx) => writeDeleteRetention(tx, "account", "blob", retention));
  }

  /** Sweeps until nothing is left to do. */
  async sweep(): Promise<void> {
    const sweep = new BlobSweep(this.context);
    while (await sweep.sweep());
    while (await this.context.contents.sweep());
  }

  /** Counts the records of contents, blocks, revisions and references that the store still has. */
  async recordsOfContents(): Promise<number> {
    const spaces = [
      SPACE.content,
      SPACE.contentSegment,
      SPACE.contentShares,
      SPACE.contentGarbage,
      SPACE.extentUse,
      SPACE.rangeEntry,
      SPACE.rangeLayer,
      SPACE.crowdedRegion,
      SPACE.doomedRangeLayer,
      SPACE.stagedBlob,
      SPACE.stagedBlock,
      SPACE.doomedStagedBlob,
      SPACE.blobSnapshot,
      SPACE.blobVersion,
      SPACE.deletedBlob,
      SPACE.deletedRevision,
      SPACE.deletedPath,
      SPACE.expiringBlob,
    ];
    return this.store.read((view) =>
      spaces.reduce((sum, space) => {
        const all = key(space);
        return sum + view.range(all, keyAfter(all), { limit: 1_000 }).length;
      }, 0),
    );
  }

  /** Fails unless extents have these bytes: in memory alone, elsewhere as they are stored. */
  requireInExtents(bytes: number): void {
    const found = this.bytesInExtents();
    const isMemory = this.#data.next().member === null;
    const most = isMemory ? bytes : bytes * STORED_PART_MAX;
    assert.ok(found >= bytes && found <= most, `${found} bytes instead of ${bytes}`);
  }

  bytesInExtents(): number {
    return bytesInExtents(this.#data);
  }
}

function bodyOf(body: string | Bytes | Body): Body {
  if (typeof body === "string") return wholeBody(Buffer.from(body));
  return Buffer.isBuffer(body) ? wholeBody(body) : body;
}

export async function bytesOf({ reading }: GetBlobDone): Promise<Bytes> {
  try {
    return await gather(reading);
  } finally {
    reading.close();
  }
}

/** A body in two halves that runs `between` after the first one. */
export function bodyWith(bytes: Bytes, between: () => Promise<unknown>): Body {
  const half = bytes.length >> 1;
  return {
    length: bytes.length,
    async drain(take) {
      await take(bytes.subarray(0, half));
      await between();
      await take(bytes.subarray(half));
    },
  };
}

/** A body that fails the test if it is read. Its sender waits to be asked. */
export function untouchable(length = 1): Body {
  return { length, isHeldBack: true, drain: () => assert.fail("the body was taken") };
}

export function refused(code: FaultCode): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, code);
    return true;
  };
}
