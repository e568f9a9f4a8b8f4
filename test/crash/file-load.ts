import assert from "node:assert/strict";
import { randomBytes, randomInt } from "node:crypto";
import {
  type ShareClient,
  type ShareFileClient,
  ShareServiceClient,
  StorageSharedKeyCredential,
} from "@azure/storage-file-share";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import type { WholeServerProcess } from "./server-process.ts";
import { type Change, describeBytes, StateWriter, type Subject } from "./state-writer.ts";

/** Stored in records, and in extents. */
const SIZES = [100, 5_000, 40_000, 300_000];

/** The content of a file; null if it does not exist. */
export type FileState = Buffer | null;

/** A file of the share `kills`, over REST. */
class FileSubject implements Subject<FileState> {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  nextChange(before: FileState, server: WholeServerProcess): Change<FileState> {
    const file = fileAt(shareAt(server, "kills"), this.name);
    const size = SIZES[randomInt(SIZES.length)] as number;
    if (before === null) return { next: Buffer.alloc(size), make: () => file.create(size) };
    switch (randomInt(6)) {
      case 0:
        return { next: null, make: () => file.delete() };
      case 1:
        return { next: Buffer.alloc(size), make: () => file.create(size) };
      case 2:
        return {
          next: Buffer.concat([before, Buffer.alloc(size)]).subarray(0, size),
          make: () => file.resize(size),
        };
      case 3: {
        const from = randomInt(before.length);
        const next = Buffer.from(before).fill(0, from);
        return { next, make: () => file.clearRange(from, before.length - from) };
      }
      default: {
        const from = randomInt(before.length);
        const bytes = randomBytes(randomInt(1, before.length - from + 1));
        const next = Buffer.from(before);
        bytes.copy(next, from);
        return { next, make: () => file.uploadRange(bytes, from, bytes.length) };
      }
    }
  }

  read(server: WholeServerProcess): Promise<FileState> {
    return contentOf(fileAt(shareAt(server, "kills"), this.name));
  }

  describe(state: FileState): string {
    return describeBytes(state);
  }
}

export function newFileWriter(name: string): StateWriter<FileState> {
  return new StateWriter(new FileSubject(name), null);
}

export function shareAt({ urls }: WholeServerProcess, share: string): ShareClient {
  const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
  const client = new ShareServiceClient(urls.File, credential, { retryOptions: { maxTries: 1 } });
  return client.getShareClient(share);
}

export function fileAt(share: ShareClient, name: string): ShareFileClient {
  return share.rootDirectoryClient.getFileClient(name);
}

export async function contentOf(file: ShareFileClient): Promise<FileState> {
  if (!(await file.exists())) return null;
  const { contentLength = 0 } = await file.getProperties();
  return contentLength === 0 ? Buffer.alloc(0) : file.downloadToBuffer();
}

/** Checks that a listing shows the files that their writers know, and no others. */
export async function checkFileList(
  share: ShareClient,
  writers: readonly StateWriter<FileState>[],
): Promise<void> {
  const listed: string[] = [];
  for await (const { name } of share.rootDirectoryClient.listFilesAndDirectories()) {
    listed.push(name);
  }
  const there = writers.filter(({ acknowledged }) => acknowledged !== null);
  assert.deepEqual(
    listed,
    there.map(({ name }) => name),
  );
}
