import { createHash, type Hash } from "node:crypto";
import { parentPort } from "node:worker_threads";
import type { FromMd5Worker, ToMd5Worker } from "./md5-thread.ts";

/** The thread behind `Md5Thread`. */
const hashes = new Map<number, Hash>();

parentPort?.on("message", ({ job, slab, length, last }: ToMd5Worker) => {
  const hash = hashes.get(job) ?? createHash("md5");
  hashes.set(job, hash);
  hash.update(new Uint8Array(slab, 0, length));
  if (last) hashes.delete(job);
  const md5 = last ? hash.digest() : null;
  parentPort?.postMessage({ job, slab, md5 } satisfies FromMd5Worker, [slab]);
});
