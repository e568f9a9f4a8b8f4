import { BlobSweep } from "../../src/service/blob/sweep.ts";
import type { TestServer } from "./server.ts";

/** Sweeps until nothing is left to do. */
export async function sweep({ context }: TestServer): Promise<void> {
  const blobs = new BlobSweep(context);
  while (await blobs.sweep());
  while (await context.contents.sweep());
}
