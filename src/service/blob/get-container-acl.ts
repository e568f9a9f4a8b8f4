import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { admitContainerRead } from "./admit.ts";
import type { BlobContext, ContainerRead } from "./context.ts";
import type { Container } from "./records.ts";

export async function getContainerAcl(
  context: BlobContext,
  asked: ContainerRead,
): Promise<Container> {
  return context.store.read((view) => admitContainerRead(view, asked, BLOB_NEEDS.getContainerAcl));
}
