import type { GivenFlags } from "./account-flags.ts";
import { isBucket } from "./bytes-options.ts";
import { UsageError } from "./start-error.ts";

/** Throws a `UsageError` if flags exclude each other, or one lacks another. */
export function requireNoContradictions(given: GivenFlags): void {
  if (given.has("inMemoryPersistence") && given.has("location")) {
    throw new UsageError(
      "--inMemoryPersistence and --location contradict each other: leave one of them out.",
    );
  }
  if (given.has("inMemoryPersistence") && given.has("acceptDataLoss")) {
    throw new UsageError(
      "--acceptDataLoss is about a data folder, and --inMemoryPersistence uses none: leave one of them out.",
    );
  }
  requireSharedAlone(given);
  if (given.has("extentMemoryLimit") && !given.has("inMemoryPersistence")) {
    throw new UsageError("--extentMemoryLimit works only together with --inMemoryPersistence.");
  }
  if (given.has("silent") && given.text("log") === "-") {
    throw new UsageError("--silent and --log - contradict each other: give --log a file.");
  }
  if (given.has("logFormat") && !given.has("log")) {
    throw new UsageError("--logFormat is about the log of requests: name its file with --log.");
  }
  if (given.has("labPort") && !given.has("lab")) {
    throw new UsageError("--labPort is about the lab: switch it on with --lab.");
  }
  const oauth = given.text("oauth");
  if (oauth !== null && oauth !== "basic") {
    throw new UsageError(
      `--oauth knows "basic" only, not "${oauth}". To check signatures, give the issuer in --config.`,
    );
  }
  if (oauth !== null && !given.has("cert")) {
    throw new UsageError("--oauth needs HTTPS: give a certificate with --cert and --key.");
  }
}

/** Records that are shared exclude the flags of a data folder. */
function requireSharedAlone(given: GivenFlags): void {
  const shared = ["records", "bytes"].find((name) => given.has(name));
  if (shared === undefined) return;
  // A bucket also takes the bytes of a data folder.
  const isForFolder = shared === "bytes" && isBucket(given.text("bytes"));
  const excluded = isForFolder
    ? ["inMemoryPersistence"]
    : ["location", "inMemoryPersistence", "acceptDataLoss"];
  const other = excluded.find((name) => given.has(name));
  if (other !== undefined) {
    throw new UsageError(
      `--${shared} and --${other} contradict each other: leave one of them out.`,
    );
  }
}
