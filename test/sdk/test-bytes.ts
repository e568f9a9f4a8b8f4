import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type S3Place, s3Url } from "../../src/engine/s3/s3-place.ts";
import { startObjectStore } from "../s3/object-store.ts";

/** Where the front ends of a test server have their bytes. */
export interface TestBytes {
  /** As in `--bytes`. */
  readonly place: string;
  /** Null if they are in a folder. */
  readonly bucket: S3Place | null;
  remove(): Promise<void>;
}

/** In a folder, or in a bucket if `LAZULI_TEST_BYTES` is `s3`. */
export async function newTestBytes(): Promise<TestBytes> {
  if (process.env.LAZULI_TEST_BYTES === "s3") {
    const store = await startObjectStore();
    const bucket = store.newPlace();
    return { place: s3Url(bucket), bucket, remove: () => store.stop() };
  }
  const place = await mkdtemp(join(tmpdir(), "lazuli-test-bytes-"));
  return { place, bucket: null, remove: () => rm(place, { recursive: true }) };
}
