import type { FileContext } from "../../../service/file/context.ts";
import { type GetFileDone, getFile } from "../../../service/file/get-file.ts";
import { rangeDigestsOf, rangeOf } from "../byte-range.ts";
import { withOverrides } from "../content-properties.ts";
import type { RestResponse } from "../http/exchange.ts";
import { requireNoHeaders } from "../request-headers.ts";
import { digestHeaders } from "../response-headers.ts";
import { sentBody, structuredFormOf } from "../stored-body.ts";
import { type FileCall, fileAskedOf } from "./call.ts";
import { fileHeaders } from "./file-headers.ts";

export async function handleGetFile(context: FileContext, call: FileCall): Promise<RestResponse> {
  const { headers } = call.request;
  requireNoHeaders(headers, ["x-ms-range-get-content-crc64"]);
  const range = rangeOf(headers);
  const form = structuredFormOf(headers);
  const { at, access, leaseId } = fileAskedOf(call);
  const md5 = rangeDigestsOf(headers, range)?.md5 ?? false;
  const done = await getFile(context, { at, access, leaseId, range, md5 });
  const found = fileHeaders(done);
  found.push("Accept-Ranges", "bytes");
  found.push(...(range === null ? wholeHeaders(done) : rangeHeaders(done)));
  const sent = sentBody(done.reading, form);
  found.push(...sent.headers);
  return {
    status: range === null ? 200 : 206,
    headers: withOverrides(found, call.overrides),
    body: sent.body,
  };
}

function wholeHeaders({ file }: GetFileDone): string[] {
  return digestHeaders({ md5: file.properties.contentMd5, crc64: null });
}

/**
 * Formats the range headers. Content-MD5 is that of the returned bytes, so the file's own MD5 has
 * another name here.
 */
function rangeHeaders({ file, from, reading, md5 }: GetFileDone): string[] {
  const to = from + reading.length - 1;
  const headers = ["Content-Range", `bytes ${from}-${to}/${file.content.length}`];
  headers.push(...digestHeaders({ md5, crc64: null }));
  const whole = file.properties.contentMd5;
  if (whole !== null) headers.push("x-ms-content-md5", whole.toString("base64"));
  return headers;
}
