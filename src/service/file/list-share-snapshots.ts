import type { Stamp } from "../../base/stamp.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { admitToShare } from "./admit.ts";
import type { FileContext, ShareAsked } from "./context.ts";
import { snapshotsOf } from "./records.ts";

/** The snapshots of one share, newest first. */
export async function listShareSnapshots(
  context: FileContext,
  asked: ShareAsked,
): Promise<readonly Stamp[]> {
  return context.store.read((view) => {
    const { id } = admitToShare(view, asked, FILE_NEEDS.listShareSnapshots);
    return snapshotsOf(view, id)
      .map(({ name }) => name)
      .reverse();
  });
}
