import { parseHttpDate } from "../../../base/time-text.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import type { Expiry } from "../../../service/blob/expiry.ts";
import { setBlobExpiry } from "../../../service/blob/set-blob-expiry.ts";
import type { RequestHeaders, RestResponse } from "../http/exchange.ts";
import { invalidHeader, numberOf, requireHeader } from "../request-headers.ts";
import { versionHeaders } from "../response-headers.ts";
import { addressOf, type BlobCall } from "./call.ts";
import { requireNoKey, requireSupportedOnWrite } from "./unsupported.ts";

export async function handleSetBlobExpiry(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  requireNoKey(call.request);
  requireSupportedOnWrite(call.request, EXPIRY_HEADERS);
  requireHeader(headers, OPTION);
  const done = await setBlobExpiry(context, {
    at: addressOf(call),
    access: call.access,
    expiry: expiryOf(headers) ?? { kind: "never" },
  });
  return { status: 200, headers: versionHeaders(done), body: null };
}

const OPTION = "x-ms-expiry-option";
const TIME = "x-ms-expiry-time";
export const EXPIRY_HEADERS = [OPTION, TIME];

/** Reads when a file expires; null if the headers do not say. */
export function expiryOf(headers: RequestHeaders): Expiry | null {
  const option = headers.get(OPTION) ?? "";
  switch (option.toLowerCase()) {
    case "":
      return null;
    case "neverexpire":
      return { kind: "never" };
    case "absolute":
      return { kind: "at", atMs: dateOf(headers) };
    case "relativetocreation":
      return { kind: "afterCreation", ms: millisecondsOf(headers) };
    case "relativetonow":
      return { kind: "fromNow", ms: millisecondsOf(headers) };
    default:
      throw invalidHeader(
        OPTION,
        option,
        "Use NeverExpire, Absolute, RelativeToCreation or RelativeToNow.",
      );
  }
}

function dateOf(headers: RequestHeaders): number {
  const text = requireHeader(headers, TIME);
  const atMs = parseHttpDate(text);
  if (atMs === null) throw invalidHeader(TIME, text, "It must look like an HTTP date.");
  return atMs;
}

function millisecondsOf(headers: RequestHeaders): number {
  requireHeader(headers, TIME);
  return numberOf(headers, TIME, 1, Number.MAX_SAFE_INTEGER / 2) ?? 1;
}
