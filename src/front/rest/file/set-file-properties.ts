import { FILE_BYTES_MAX } from "../../../base/limits.ts";
import type { FileContext } from "../../../service/file/context.ts";
import { setFileProperties } from "../../../service/file/set-file-properties.ts";
import type { RestResponse } from "../http/exchange.ts";
import { pastOf } from "../past.ts";
import { numberOf } from "../request-headers.ts";
import { type FileCall, fileAskedOf, requireNoSnapshot } from "./call.ts";
import { changedFilePropertiesOf } from "./file-headers.ts";
import {
  changedItemHeaders,
  itemSettingsOf,
  requireSupportedOnExistingItem,
} from "./item-headers.ts";

export async function handleSetFileProperties(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  requireNoSnapshot(call);
  requireSupportedOnExistingItem(headers);
  const length = numberOf(headers, "x-ms-content-length", 0, FILE_BYTES_MAX);
  const done = await setFileProperties(context, {
    ...fileAskedOf(call),
    properties: changedFilePropertiesOf(headers, length !== null),
    length,
    settings: itemSettingsOf(headers),
    past: pastOf(headers),
  });
  return { status: 200, headers: changedItemHeaders(done), body: null };
}
