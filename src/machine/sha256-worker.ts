import { createHash, type Hash } from "node:crypto";
import { parentPort } from "node:worker_threads";
import type { Sha256Asked } from "./sha256-thread.ts";

/** The worker of `Sha256Thread`. It answers each message; the last of a body with its digest. */
const port = parentPort;
const hashes = new Map<number, Hash>();

port?.on("message", ({ body, part, last }: Sha256Asked) => {
  const hash = hashes.get(body) ?? createHash("sha256");
  if (part !== null) hash.update(part);
  if (last) hashes.delete(body);
  else hashes.set(body, hash);
  port?.postMessage(last ? hash.digest("hex") : null);
});
