import { Fault } from "../../base/fault.ts";
import { OWNER } from "../../rules/access.ts";
import type { FileContext } from "../../service/file/context.ts";
import { getShareProperties } from "../../service/file/get-share-properties.ts";
import { listShareNames } from "../../service/file/list-share-names.ts";

/** The names of an account's shares, in their order. */
export async function sharesOf(context: FileContext, account: string): Promise<readonly string[]> {
  return await listShareNames(context, account);
}

/** `share` in lower case, as all their names are. */
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
      /^(ShareNotFound|InvalidResourceName|OutOfRangeInput)$/.test(error.code);
    if (isMissing) return false;
    throw error;
  }
}
