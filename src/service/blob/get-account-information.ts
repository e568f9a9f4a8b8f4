import { refuse } from "../../base/fault.ts";
import { judgeByAccess } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { type BlobContext, type ContainerAsked, settingsOf } from "./context.ts";
import { readContainer } from "./records.ts";

export interface AccountInformation {
  readonly sku: string;
  readonly kind: string;
  readonly isHierarchical: boolean;
}

/**
 * Works at any address. A container that the address names need not exist. It tells its own kind if
 * the account may have containers of both kinds.
 */
export async function getAccountInformation(
  context: BlobContext,
  asked: ContainerAsked,
): Promise<AccountInformation> {
  return context.store.read((view) => {
    const guard = readContainer(view, asked.at);
    refuse(judgeByAccess(asked.access, BLOB_NEEDS.getAccountInformation, guard, view.now()));
    const { hierarchicalNamespace } = settingsOf(context, asked.at.account);
    const isHierarchical = hierarchicalNamespace ?? guard?.isHierarchical ?? false;
    return { sku: "Standard_RAGRS", kind: "StorageV2", isHierarchical };
  });
}
