import { Fault } from "../../../base/fault.ts";
import { isoOfFileTime } from "../../../base/file-time.ts";
import { PUT_RANGE_BYTES_MAX } from "../../../base/limits.ts";
import type { FileContext } from "../../../service/file/context.ts";
import { clearRange, type PutRangeDone, putRange } from "../../../service/file/put-range.ts";
import { rangeOf } from "../byte-range.ts";
import type { RequestHeaders, RestResponse } from "../http/exchange.ts";
import { digestsOf, invalidHeader, requireHeader, requireNoHeaders } from "../request-headers.ts";
import { digestHeaders, versionHeaders } from "../response-headers.ts";
import { incomingBody, requireNoBody } from "../stored-body.ts";
import { type FileCall, fileAskedOf, requireNoSnapshot } from "./call.ts";

export async function handlePutRange(context: FileContext, call: FileCall): Promise<RestResponse> {
  requireNoSnapshot(call);
  const name = "x-ms-write";
  const write = requireHeader(call.request.headers, name).toLowerCase();
  if (write === "clear") return clear(context, call);
  if (write === "update") return update(context, call);
  throw invalidHeader(name, write, "It must be update or clear.");
}

async function update(context: FileContext, call: FileCall): Promise<RestResponse> {
  const { headers } = call.request;
  const incoming = incomingBody(call.request, PUT_RANGE_BYTES_MAX);
  const { from, until } = writtenRangeOf(headers);
  if (incoming.body.length !== until - from) {
    const reason = `The range has ${until - from} bytes, and the body must have as many.`;
    throw invalidHeader("Content-Length", String(incoming.body.length), reason);
  }
  const done = await putRange(context, {
    ...fileAskedOf(call),
    from,
    until,
    preservesWritten: preservesWritten(headers),
    body: incoming.body,
    digests: digestsOf(headers),
  });
  return rangeWritten(done, incoming.echo);
}

async function clear(context: FileContext, call: FileCall): Promise<RestResponse> {
  const { headers } = call.request;
  requireNoBody(call.request);
  requireNoHeaders(headers, ["content-md5", "x-ms-content-crc64"]);
  const { from, until } = writtenRangeOf(headers);
  const done = await clearRange(context, {
    ...fileAskedOf(call),
    from,
    until,
    preservesWritten: preservesWritten(headers),
  });
  return rangeWritten(done, []);
}

/** Reads a range with both ends. */
export function writtenRangeOf(headers: RequestHeaders): { from: number; until: number } {
  const range = rangeOf(headers);
  if (range === null) throw new Fault("MissingRequiredHeader", { HeaderName: "x-ms-range" });
  if (range.to === null) {
    const value = headers.get("x-ms-range") ?? headers.get("range") ?? "";
    throw invalidHeader("x-ms-range", value, "A write names both ends, as in bytes=0-499.");
  }
  return { from: range.from, until: range.to + 1 };
}

export function preservesWritten(headers: RequestHeaders): boolean {
  const name = "x-ms-file-last-write-time";
  const value = headers.get(name);
  if (value === undefined || value === "") return false;
  const lower = value.toLowerCase();
  if (lower !== "now" && lower !== "preserve") {
    throw invalidHeader(name, value, "It must be now or preserve.");
  }
  return lower === "preserve";
}

export function rangeWritten(done: PutRangeDone, echo: readonly string[]): RestResponse {
  return {
    status: 201,
    headers: [
      ...versionHeaders(done),
      ...digestHeaders(done),
      "x-ms-file-last-write-time",
      isoOfFileTime(done.written),
      "x-ms-request-server-encrypted",
      "true",
      ...echo,
    ],
    body: null,
  };
}
