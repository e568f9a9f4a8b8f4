import { Fault } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Reading } from "../../store/content.ts";
import { admitToPlace } from "./admit.ts";
import type { BlobAsked, BlobContext } from "./context.ts";
import { readStagedBlob, readStagedBlock } from "./records.ts";

export interface GetBlock extends BlobAsked {
  /** In Base64. */
  readonly blockId: string;
}

/** Opens the bytes of an uncommitted block, for exports. The caller closes the reading. */
export async function getBlock(context: BlobContext, asked: GetBlock): Promise<Reading> {
  return context.store.read((view) => {
    const { place } = admitToPlace(view, asked, BLOB_NEEDS.getBlock);
    const staged = readStagedBlob(view, place);
    const block = staged === null ? null : readStagedBlock(view, staged, asked.blockId);
    if (block === null) throw new Fault("BlobNotFound");
    if (block.keySha256 !== null) throw new Fault("BlobUsesCustomerSpecifiedEncryption");
    return context.contents.open(view, block.content, 0, block.content.length, null);
  });
}
