import { LOGS_CONTAINER } from "../../rules/container-name.ts";
import type { Transaction } from "../../store/store.ts";
import { readContainer, writeContainer } from "./records.ts";
import { nextVersion } from "./version.ts";

/**
 * Creates the container for an account's logs, unless it exists. The service creates it when
 * logging is switched on, and programs rely on that.
 */
export function createLogsContainer(tx: Transaction, account: string): void {
  const at = { account, container: LOGS_CONTAINER };
  if (readContainer(tx, at) !== null) return;
  const version = nextVersion(tx, null);
  writeContainer(tx, at, {
    id: version.etag,
    ...version,
    lease: null,
    publicAccess: "none",
    policies: [],
    metadata: [],
    isHierarchical: false,
    control: null,
  });
}
