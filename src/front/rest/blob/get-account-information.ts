import type { BlobContext } from "../../../service/blob/context.ts";
import { getAccountInformation } from "../../../service/blob/get-account-information.ts";
import type { RestResponse } from "../http/exchange.ts";
import { addressOf, type BlobCall } from "./call.ts";

export async function handleGetAccountInformation(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const account = await getAccountInformation(context, {
    at: addressOf(call),
    access: call.access,
  });
  return {
    status: 200,
    headers: [
      "x-ms-sku-name",
      account.sku,
      "x-ms-account-kind",
      account.kind,
      "x-ms-is-hns-enabled",
      String(account.isHierarchical),
    ],
    body: null,
  };
}
