import type { FileContext } from "../../../service/file/context.ts";
import { getFileProperties } from "../../../service/file/get-file-properties.ts";
import { withOverrides } from "../content-properties.ts";
import type { RestResponse } from "../http/exchange.ts";
import { digestHeaders } from "../response-headers.ts";
import { type FileCall, fileAskedOf } from "./call.ts";
import { fileHeaders } from "./file-headers.ts";

export async function handleGetFileProperties(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const found = await getFileProperties(context, fileAskedOf(call));
  const { content, properties } = found.file;
  const answer = [
    ...fileHeaders(found),
    ...digestHeaders({ md5: properties.contentMd5, crc64: null }),
    "Content-Length",
    String(content.length),
  ];
  return { status: 200, headers: withOverrides(answer, call.overrides), body: null };
}
