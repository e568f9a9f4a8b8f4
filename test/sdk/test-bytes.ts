import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FolderExtents } from "../../src/engine/folder/extents.ts";
import { MemoryExtents } from "../../src/engine/memory/extents.ts";
import { S3Extents } from "../../src/engine/s3/extents.ts";
import { Machine } from "../../src/machine/machine.ts";
import type { Extents } from "../../src/store/extents.ts";
import { objectsAt, startObjectStore } from "../s3/object-store.ts";

/** Bytes that the front ends of a test server share. */
export interface TestBytes {
  /** Opens them for a front end. */
  extentsOf(frontEnd: number): Promise<Extents>;
  close(): Promise<void>;
}

/** In memory, or where `LAZULI_TEST_BYTES` says: in a `folder`, or in a bucket (`s3`). */
export async function openTestBytes(): Promise<TestBytes> {
  switch (process.env.LAZULI_TEST_BYTES) {
    case "folder":
      return folderBytes();
    case "s3":
      return bucketBytes();
    default: {
      const shared = new MemoryExtents();
      return { extentsOf: async () => shared, close: async () => {} };
    }
  }
}

async function folderBytes(): Promise<TestBytes> {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-test-bytes-"));
  const opened: Extents[] = [];
  return {
    async extentsOf(frontEnd) {
      const extents = await FolderExtents.open({ folder, frontEnd });
      opened.push(extents);
      return extents;
    },
    async close() {
      for (const extents of opened) await extents.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function bucketBytes(): Promise<TestBytes> {
  const store = await startObjectStore();
  const place = store.newPlace();
  const machine = new Machine();
  const closing: (() => Promise<void>)[] = [];
  return {
    async extentsOf(frontEnd) {
      const { objects, extents: own } = await objectsAt(place);
      const sweeps = (maker: number) => maker === frontEnd;
      const extents = new S3Extents({ objects: own, machine, frontEnd, sweeps });
      closing.push(async () => {
        await extents.close();
        objects.close();
      });
      return extents;
    },
    async close() {
      for (const close of closing) await close();
      await machine.close();
      await store.stop();
    },
  };
}
