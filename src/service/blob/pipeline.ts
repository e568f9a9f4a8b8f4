import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { admitToContainer } from "./admit.ts";
import type { BlobContext, ContainerAsked } from "./context.ts";

/** Judges who may send many requests in one. Each of them is then judged as if it came alone. */
export async function admitPipeline({ store }: BlobContext, asked: ContainerAsked): Promise<void> {
  await store.read((view) => admitToContainer(view, asked, BLOB_NEEDS.pipeline));
}
