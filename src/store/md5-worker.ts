import { createHash, type Hash } from "node:crypto";
import { parentPort } from "node:worker_threads";
import type { FromMd5Worker, ToMd5Worker } from "./md5-thread.ts";

/** The thread behind `Md5Thread`. */
const hashes = new Map<number, Hash>();

parentPort?.on("message", ({ job, parts, last }: ToMd5Worker) => {
  const hash = hashes.get(job) ?? createHash("md5");
  hashes.set(job, hash);
  for (const part of parts) hash.update(part);
  if (last) hashes.delete(job);
  const md5 = last ? hash.digest() : null;
  parentPort?.postMessage({ job, md5 } satisfies FromMd5Worker);
});
