import type { FileContext } from "../../../service/file/context.ts";
import { getPermission } from "../../../service/file/get-permission.ts";
import type { RestResponse } from "../http/exchange.ts";
import { requireHeader } from "../request-headers.ts";
import { type FileCall, shareAskedOf } from "./call.ts";
import { permissionFormatOf, permissionText } from "./permission-format.ts";

export async function handleGetPermission(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  const key = requireHeader(headers, "x-ms-file-permission-key");
  const format = permissionFormatOf(headers);
  const sddl = await getPermission(context, { ...shareAskedOf(call), key });
  const permission = permissionText(sddl, format);
  return {
    status: 200,
    headers: ["Content-Type", "application/json"],
    body: JSON.stringify({ permission, format }),
  };
}
