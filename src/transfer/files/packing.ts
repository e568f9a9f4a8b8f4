import { Readable, type Transform } from "node:stream";
import * as zlib from "node:zlib";
import { TransferError } from "../transfer-error.ts";
import { ZSTD_MAGIC, zstdFrames } from "./zstd-frames.ts";

/** How a tar file is compressed. */
export type Packing = "gzip" | "zstd";

const ENDINGS: readonly (readonly [RegExp, Packing | null])[] = [
  [/\.tar$/i, null],
  [/\.(?:tar\.gz|tgz)$/i, "gzip"],
  [/\.(?:tar\.zst|tzst)$/i, "zstd"],
];

/** What a name says about a tar file; undefined if it is not the name of one. */
export function packingOfName(path: string): Packing | null | undefined {
  return ENDINGS.find(([ending]) => ending.test(path))?.[1];
}

/** By its first bytes. */
export function packingOf(start: Buffer): Packing | null {
  if (start[0] === 0x1f && start[1] === 0x8b) return "gzip";
  return start.length >= 4 && start.readUInt32LE(0) === ZSTD_MAGIC ? "zstd" : null;
}

/** Node has zstd since 22.15; the types of this project are older. */
interface Zstd {
  readonly createZstdCompress?: () => Transform;
  readonly createZstdDecompress?: () => Transform;
}

export function packer(packing: Packing): Transform {
  return packing === "gzip" ? zlib.createGzip() : zstd("createZstdCompress");
}

/** Unpacks all of a stream, which may have been packed in several pieces. */
export function unpacked(packing: Packing, from: Readable): Readable {
  const isGzip = packing === "gzip";
  const into = isGzip ? zlib.createGunzip() : zstd("createZstdDecompress");
  const pieces = isGzip ? from : Readable.from(zstdFrames(from));
  pieces.on("error", (error) => into.destroy(error));
  return pieces.pipe(into);
}

function zstd(name: keyof Zstd): Transform {
  const create = (zlib as Zstd)[name];
  if (create !== undefined) return create();
  throw new TransferError(
    `zstd takes Node 22.15 or later, and this is ${process.version}. Use .tar.gz instead.`,
  );
}
