import type { Transaction } from "../../store/store.ts";
import { type Container, deleteStagedBlob, readStagedBlob } from "./records.ts";

/** Uncommitted blocks end with every new version of the blob. The sweeper frees their bytes. */
export function dropStagedBlocks(tx: Transaction, container: Container, name: string): void {
  const staged = readStagedBlob(tx, container, name);
  if (staged !== null) deleteStagedBlob(tx, container, name, staged, { dropContents: true });
}
