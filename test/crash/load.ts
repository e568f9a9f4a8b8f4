import assert from "node:assert/strict";
import { createHash, randomInt } from "node:crypto";
import {
  BlobServiceClient,
  type BlockBlobClient,
  type ContainerClient,
  type PageBlobClient,
  RestError,
} from "@azure/storage-blob";
import { CREDENTIAL } from "../sdk/server.ts";
import { isUnanswered } from "./outage.ts";

/** Stored in records, at the limit, and in extents, up to a size that takes a while to send. */
const SIZES = [100, 4_096, 16_384, 16_385, 100_000, 1_500_000];
const ABANDONED_BYTES = 100_000;
const APPENDED_BYTES_MAX = 50_000;
const BLOCK_IDS = ["AAAA", "BBBB"];
const PAGE_BYTES = 512;
/** Sizes of page blobs, and of writes to them. */
const PAGES = [1, 8, 200, 1_000];

/** The content of a blob; null if it does not exist. */
type State = {
  readonly type: "BlockBlob" | "AppendBlob" | "PageBlob";
  readonly bytes: Buffer;
  /** Metadata that is set together with the bytes, or later on its own. */
  readonly label: string;
} | null;

/** One change of a writer to its blob. */
interface Change {
  readonly next: State;
  make(): Promise<unknown>;
  /** Called once it is acknowledged. */
  confirm?(): void;
}

/**
 * A client with one blob. After a kill the blob is in the state that was acknowledged last, or in
 * the one requested when the answer did not come. Nothing else is possible.
 */
export class Writer {
  readonly name: string;
  #acknowledged: State = null;
  #asked: { readonly state: State } | null = null;
  /** Acknowledged snapshots, by id. */
  readonly #snapshots = new Map<string, State>();

  constructor(name: string) {
    this.name = name;
  }

  /** Length of the blob; null if it does not exist. */
  get length(): number | null {
    return this.#acknowledged?.bytes.length ?? null;
  }

  /** Writes until the server is gone. */
  async write(
    container: ContainerClient,
    acknowledge: () => void,
    isOutage = isUnanswered,
  ): Promise<void> {
    for (;;) {
      const change = this.#nextChange(container);
      const { next } = change;
      this.#asked = { state: next };
      try {
        await abandonBlock(container, this.name);
        await change.make();
      } catch (error) {
        if (isOutage(error)) return;
        throw error;
      }
      this.#acknowledged = next;
      this.#asked = null;
      change.confirm?.();
      acknowledge();
    }
  }

  /** Fails if an acknowledged write is missing, or if something exists that was never requested. */
  async check(container: ContainerClient): Promise<void> {
    const blob = container.getPageBlobClient(this.name);
    const found = await read(blob);
    const known = describe(this.#acknowledged);
    if (describe(found) !== known) {
      const lost = `${this.name} lost what was acknowledged`;
      assert.ok(this.#asked !== null, `${lost}: ${known}, and has ${describe(found)}`);
      assert.equal(describe(found), describe(this.#asked.state), lost);
      this.#acknowledged = found;
    }
    if (found !== null) await this.#checkSnapshots(blob);
    this.#snapshots.clear();
  }

  /** Checks all snapshots and deletes them, including any whose answer did not come. */
  async #checkSnapshots(blob: PageBlobClient): Promise<void> {
    for (const [id, state] of this.#snapshots) {
      const found = await read(blob.withSnapshot(id));
      assert.equal(describe(found), describe(state), `${this.name} lost a snapshot`);
    }
    await blob.deleteIfExists({ deleteSnapshots: "only" });
  }

  #nextChange(container: ContainerClient): Change {
    const old = this.#acknowledged;
    const label = randomInt(2 ** 40).toString(36);
    const metadata = { label };
    const blob = container.getBlockBlobClient(this.name);
    const kind = randomInt(20);
    if (old !== null && kind === 0) {
      const make = () => blob.delete({ deleteSnapshots: "include" });
      return { next: null, make, confirm: () => this.#snapshots.clear() };
    }
    if (old !== null && kind === 19) return this.#snapshot(blob, old);
    if (old !== null && kind < 4) {
      return { next: { ...old, label }, make: () => blob.setMetadata(metadata) };
    }
    if (old?.type === "BlockBlob" && kind < 6) {
      return { next: { ...old, label }, make: () => copyInBlocks(blob, old.bytes, metadata) };
    }
    if (old !== null && kind < 8) {
      return { next: { ...old, label }, make: () => copyOnto(blob, metadata) };
    }
    const log = container.getAppendBlobClient(this.name);
    if (old?.type === "AppendBlob" && kind < 16) {
      const more = Buffer.alloc(randomInt(1, APPENDED_BYTES_MAX), label);
      const next = { ...old, bytes: Buffer.concat([old.bytes, more]) };
      return { next, make: () => log.appendBlock(more, more.length) };
    }
    const disk = container.getPageBlobClient(this.name);
    if (old?.type === "PageBlob" && kind < 17) return changePages(disk, old, label);
    if (kind === 18) {
      const bytes = Buffer.alloc((PAGES[randomInt(PAGES.length)] as number) * PAGE_BYTES);
      const next = { type: "PageBlob", bytes, label } as const;
      return { next, make: () => disk.create(bytes.length, { metadata }) };
    }
    if (kind < 6) {
      const next = { type: "AppendBlob", bytes: Buffer.alloc(0), label } as const;
      return { next, make: () => log.create({ metadata }) };
    }
    const bytes = Buffer.alloc(SIZES[randomInt(SIZES.length)] as number, label);
    const next = { type: "BlockBlob", bytes, label } as const;
    // Blocks cannot be staged for a blob of another type.
    if (kind < 12 && (old === null || old.type === "BlockBlob")) {
      return { next, make: () => putBlocks(blob, bytes, metadata) };
    }
    return { next, make: () => blob.upload(bytes, bytes.length, { metadata }) };
  }

  #snapshot(blob: BlockBlobClient, state: State): Change {
    let id = "";
    return {
      next: state,
      make: async () => {
        id = (await blob.createSnapshot()).snapshot ?? "";
      },
      confirm: () => this.#snapshots.set(id, state),
    };
  }
}

export function containerAt(url: string): ContainerClient {
  const client = new BlobServiceClient(url, CREDENTIAL, { retryOptions: { maxTries: 1 } });
  return client.getContainerClient("kills");
}

/** Checks that a listing shows the blobs that their writers know, and no others. */
export async function checkBlobList(
  container: ContainerClient,
  writers: readonly Writer[],
): Promise<void> {
  const listed: [string, number | undefined][] = [];
  for await (const { name, properties } of container.listBlobsFlat()) {
    listed.push([name, properties.contentLength]);
  }
  const there = writers.filter(({ length }) => length !== null);
  assert.deepEqual(
    listed,
    there.map(({ name, length }) => [name, length]),
  );
}

/** Writes some pages, or clears them. */
function changePages(disk: PageBlobClient, old: NonNullable<State>, label: string): Change {
  const pages = old.bytes.length / PAGE_BYTES;
  const from = randomInt(pages);
  const count = randomInt(1, pages - from + 1);
  const [offset, length] = [from * PAGE_BYTES, count * PAGE_BYTES];
  const isCleared = randomInt(3) === 0;
  const bytes = Buffer.from(old.bytes).fill(isCleared ? 0 : label, offset, offset + length);
  const written = bytes.subarray(offset, offset + length);
  return {
    next: { ...old, bytes },
    make: () =>
      isCleared ? disk.clearPages(offset, length) : disk.uploadPages(written, offset, length),
  };
}

async function putBlocks(
  blob: BlockBlobClient,
  bytes: Buffer,
  metadata: { label: string },
): Promise<void> {
  const half = bytes.length >> 1;
  const parts = [bytes.subarray(0, half), bytes.subarray(half)];
  await Promise.all(
    parts.map((part, at) => blob.stageBlock(BLOCK_IDS[at] as string, part, part.length)),
  );
  await blob.commitBlockList(BLOCK_IDS, { metadata });
}

/** Copies a blob onto itself; its bytes stay where they are. */
async function copyOnto(blob: BlockBlobClient, metadata: { label: string }): Promise<void> {
  const { copyStatus } = await (
    await blob.beginCopyFromURL(blob.url, { metadata })
  ).pollUntilDone();
  assert.equal(copyStatus, "success");
}

async function copyInBlocks(
  blob: BlockBlobClient,
  { length }: Buffer,
  metadata: { label: string },
): Promise<void> {
  const half = length >> 1;
  await blob.stageBlockFromURL(BLOCK_IDS[0] as string, blob.url, 0, half);
  await blob.stageBlockFromURL(BLOCK_IDS[1] as string, blob.url, half, length - half);
  await blob.commitBlockList(BLOCK_IDS, { metadata });
}

/** Sometimes stages a block that is never committed. */
async function abandonBlock(container: ContainerClient, name: string): Promise<void> {
  if (randomInt(20) > 0) return;
  const blob = container.getBlockBlobClient(`${name}-abandoned`);
  await blob.stageBlock("AAAA", Buffer.alloc(ABANDONED_BYTES), ABANDONED_BYTES);
}

/** Reads a blob of any type, through a client that can list pages. */
async function read(blob: PageBlobClient): Promise<State> {
  try {
    const { blobType: type, metadata, contentLength } = await blob.getProperties();
    const bytes = contentLength === 0 ? Buffer.alloc(0) : await blob.downloadToBuffer();
    if (type === "PageBlob") await checkRanges(blob, bytes);
    return { type: type ?? "BlockBlob", bytes, label: metadata?.label ?? "" };
  } catch (error) {
    if (error instanceof RestError && error.statusCode === 404) return null;
    throw error;
  }
}

/** Writers never write zeroes, so the listed pages are those with other bytes. */
async function checkRanges(blob: PageBlobClient, bytes: Buffer): Promise<void> {
  const listed: number[] = [];
  // The client's `count` is the offset of the last byte from the first.
  for (const { offset, count = 0 } of (await blob.getPageRanges()).pageRange ?? []) {
    for (let at = offset; at <= offset + count; at += PAGE_BYTES) listed.push(at);
  }
  const found: number[] = [];
  for (let at = 0; at < bytes.length; at += PAGE_BYTES) if (bytes[at] !== 0) found.push(at);
  assert.deepEqual(listed, found, `${blob.name} lists other pages than it has`);
}

function describe(state: State): string {
  if (state === null) return "no blob";
  const digest = createHash("sha256").update(state.bytes).digest("hex");
  return `${state.type} ${state.label}, ${state.bytes.length} bytes, ${digest}`;
}
