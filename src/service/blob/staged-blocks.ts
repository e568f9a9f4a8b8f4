import type { Transaction } from "../../store/store.ts";
import { type Container, deleteStagedBlob, readStagedBlob } from "./records.ts";

/** Every new version of a blob drops its uncommitted blocks. The sweeper frees their bytes. */
export function dropStagedBlocks(tx: Transaction, container: Container, name: string): void {
  const staged = readStagedBlob(tx, container, name);
  if (staged !== null) deleteStagedBlob(tx, container, name, staged, { dropContents: true });
}
