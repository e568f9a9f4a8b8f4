import type { BlobContext } from "../../../service/blob/context.ts";
import { undeleteBlob } from "../../../service/blob/undelete-blob.ts";
import { undeletePath } from "../../../service/blob/undelete-path.ts";
import type { RestResponse } from "../http/exchange.ts";
import { invalidHeader } from "../request-headers.ts";
import { addressOf, type BlobCall } from "./call.ts";
import { requireNoKey, requireSupportedOnWrite } from "./unsupported.ts";

export async function handleUndeleteBlob(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  requireNoKey(call.request);
  requireSupportedOnWrite(call.request);
  const asked = { at: addressOf(call), access: call.access };
  const source = call.request.headers.get(UNDELETE_SOURCE);
  if (source === undefined) {
    await undeleteBlob(context, asked);
    return { status: 200, headers: [], body: null };
  }
  const { kind } = await undeletePath(context, { ...asked, deletionId: deletionIdOf(source) });
  return { status: 200, headers: ["x-ms-resource-type", kind], body: null };
}

const UNDELETE_SOURCE = "x-ms-undelete-source";
/** The path, which is the one of the request, and which of its deleted forms. */
const SOURCE = /^[^?]*\?(?:[^#]*&)?deletionid=(\d{1,20})(?:&[^#]*)?$/i;
const DELETION_ID_MAX = 2n ** 64n - 1n;

function deletionIdOf(source: string): bigint {
  const id = BigInt(SOURCE.exec(source)?.[1] ?? -1);
  if (id >= 0n && id <= DELETION_ID_MAX) return id;
  throw invalidHeader(UNDELETE_SOURCE, source, "It must be path?deletionid=number.");
}
