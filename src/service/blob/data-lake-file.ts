import { Fault } from "../../base/fault.ts";
import { kindOf } from "./flat-directory.ts";
import type { Blob } from "./records.ts";

/** Data Lake adds only to files that it wrote itself: those of the Blob service have blocks. */
export function requireDataLakeFile(blob: Blob): void {
  if (kindOf(blob) === "directory") {
    throw new Fault("PathConflict", { Reason: "A directory has no bytes." });
  }
  if (!blob.isDataLake) {
    throw new Fault("InvalidFlushOperation", {
      Reason: "The Blob service wrote this file: replace it, or write it with the Blob service.",
    });
  }
}

/** The Blob service may replace a file of Data Lake as a whole, but it has no blocks to add to. */
export function requireNoDataLakeFile(blob: Blob | null): void {
  if (blob?.isDataLake !== true) return;
  throw new Fault("BlobOperationNotSupported", {
    Reason: "Data Lake wrote this file: append to it there, or replace it with Put Blob.",
  });
}
