import { Fault } from "../../base/fault.ts";
import { isDirectory } from "./directories.ts";
import type { Blob, Container } from "./records.ts";

/** Refuses what the service does not offer in containers with directories. */
export function requireFlat(container: Container, feature: string): void {
  if (!container.isHierarchical) return;
  throw new Fault("FeatureNotYetSupportedForHierarchicalNamespaceAccounts", {
    Reason: `This container has directories, so it has no ${feature}. Use a flat container.`,
  });
}

/** Refuses what a directory, which has no bytes, cannot do. */
export function requireFile(blob: Blob): void {
  if (isDirectory(blob)) throw new Fault("OperationNotSupportedOnDirectory");
}
