import { Fault } from "../../base/fault.ts";
import { OWNER } from "../../rules/access.ts";
import type { FileContext } from "../../service/file/context.ts";
import { getShareProperties } from "../../service/file/get-share-properties.ts";
import { listShares } from "../../service/file/list-shares.ts";

/** The names of an account's shares, in their order. */
export async function sharesOf(context: FileContext, account: string): Promise<string[]> {
  const names: string[] = [];
  const pages = listShares(context, {
    account,
    access: OWNER,
    prefix: "",
    after: null,
    resultsMax: Number.POSITIVE_INFINITY,
    snapshots: false,
    deleted: false,
  });
  for await (const { shares } of pages) for (const { name } of shares) names.push(name);
  return names;
}

/** Whether an account has a share; `share` must be in lower case, as all names are. */
export async function hasShare(
  context: FileContext,
  account: string,
  share: string,
): Promise<boolean> {
  try {
    const at = { account, share, snapshot: null };
    await getShareProperties(context, { at, access: OWNER, leaseId: null });
    return true;
  } catch (error) {
    const isMissing =
      error instanceof Fault &&
      /^(ShareNotFound|InvalidResourceName|ResourceNameLength)$/.test(error.code);
    if (isMissing) return false;
    throw error;
  }
}
