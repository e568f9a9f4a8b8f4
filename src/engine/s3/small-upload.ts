import type { Body, Bytes } from "../../base/bytes.ts";
import { Crc64 } from "../../machine/crc64.ts";
import type { Slabs } from "../../machine/slabs.ts";
import type { Taps, Written } from "../../store/extents.ts";
import { bytesOnDisk, chunkBytesOf, ONE_CHUNK_BYTES_MAX, sumsOf } from "../extent-chunks.ts";
import type { UploadMemory } from "../upload-memory.ts";
import type { ObjectGroups } from "./object-groups.ts";

/** The longest body that is gathered with others: it is one chunk. */
export const SMALL_BYTES_MAX = ONE_CHUNK_BYTES_MAX;

/**
 * Stores a body of one chunk in the object of a group. The body is whole before it asks for a
 * place there. If that fails, nothing stays pinned.
 */
export async function writeSmall(
  body: Body,
  { crc64, tap }: Taps,
  memory: UploadMemory,
  groups: ObjectGroups,
  release: (extent: number) => void,
): Promise<Written> {
  const { slabs, slab } = await takeSlab(memory, bytesOnDisk(body.length));
  try {
    const pages = await fillPages(slab, body);
    const bytes = pages.subarray(0, body.length);
    const { checksum, remainder } = sumsOf(pages, body.length, chunkBytesOf(body.length));
    const seen = tap === null ? undefined : showTo(tap, bytes);
    const { place, stored } = groups.add(pages);
    const results = await Promise.allSettled([stored, seen]);
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) {
      release(place.extent);
      throw failed.reason;
    }
    const at = { ...place, length: body.length, bytesOnDisk: pages.length, checksum };
    return {
      addresses: [at],
      crc64: crc64 ? digestOf(remainder, body.length) : null,
      release: once(() => release(place.extent)),
    };
  } finally {
    memory.release(slabs, slab);
  }
}

async function takeSlab(
  memory: UploadMemory,
  bytes: number,
): Promise<{ slabs: Slabs; slab: Bytes }> {
  const usual = memory.batchesFor(bytes);
  if (memory.mayTake(usual, 0)) return { slabs: usual, slab: usual.take() };
  await memory.whenLean();
  return { slabs: memory.lean, slab: memory.lean.take() };
}

/** Copies the whole body to the slab, and zeros behind it up to the end of the page. */
async function fillPages(slab: Bytes, body: Body): Promise<Bytes> {
  let end = 0;
  await body.drain((part) => {
    if (end + part.length > body.length) throw new Error("a body is longer than announced");
    slab.fill(part, end, end + part.length);
    end += part.length;
  });
  if (end < body.length) throw new Error("a body ended too early");
  const pages = slab.subarray(0, bytesOnDisk(body.length));
  return pages.fill(0, body.length);
}

async function showTo(tap: NonNullable<Taps["tap"]>, bytes: Bytes): Promise<void> {
  await tap([bytes]);
}

function digestOf(remainder: bigint, length: number): Bytes {
  const crc = new Crc64();
  crc.append(remainder, length);
  return crc.digest();
}

function once(release: () => void): () => void {
  let isReleased = false;
  return () => {
    if (!isReleased) release();
    isReleased = true;
  };
}
