import type { Transaction } from "../../store/store.ts";
import { deleteStagedBlob, type Place, readStagedBlob } from "./records.ts";

/** Every new version of a blob drops its uncommitted blocks. The sweeper frees their bytes. */
export function dropStagedBlocks(tx: Transaction, place: Place): void {
  const staged = readStagedBlob(tx, place);
  if (staged !== null) deleteStagedBlob(tx, place, staged, { dropContents: true });
}
