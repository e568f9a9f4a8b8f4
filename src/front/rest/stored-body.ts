import { createHash } from "node:crypto";
import { type Body, NO_BYTES } from "../../base/bytes.ts";
import { requireDigests } from "../../base/digests.ts";
import { Fault } from "../../base/fault.ts";
import { crc64 } from "../../machine/crc64.ts";
import type { Reading } from "../../store/content.ts";
import type { RequestHeaders, ResponseBody, RestRequest } from "./http/exchange.ts";
import { digestsOf, invalidHeader, numberOf } from "./request-headers.ts";
import { decodeStructured, encodeStructured, STRUCTURED_BODY } from "./structured-body.ts";

/** A body to be stored, and the response headers that confirm its format. */
export interface IncomingBody {
  readonly body: Body;
  readonly echo: readonly string[];
}

/** Checks the headers first, so that a body that is too large is never read. */
export function incomingBody(request: RestRequest, bytesMax: number): IncomingBody {
  const { headers } = request;
  if (headers.get("content-length") === undefined) throw new Fault("MissingContentLengthHeader");
  const form = headers.get("x-ms-structured-body");
  if (form === undefined) {
    requireLengthWithin(request.body.length, bytesMax);
    return { body: request.body, echo: [] };
  }
  if (form !== STRUCTURED_BODY) throw unknownForm(form);
  const name = "x-ms-structured-content-length";
  const length = numberOf(headers, name, 0, Number.MAX_SAFE_INTEGER);
  if (length === null) throw new Fault("MissingRequiredHeader", { HeaderName: name });
  requireLengthWithin(length, bytesMax);
  return {
    body: decodeStructured(request.body, length),
    echo: ["x-ms-structured-body", STRUCTURED_BODY],
  };
}

function unknownForm(form: string): Fault {
  return invalidHeader("x-ms-structured-body", form, `It must be ${STRUCTURED_BODY}.`);
}

function requireLengthWithin(length: number, bytesMax: number): void {
  if (length <= bytesMax) return;
  throw new Fault("RequestBodyTooLarge", { MaxLimit: String(bytesMax) });
}

/** Returns the format in which the client wants stored bytes; null for plain bytes. */
export function structuredFormOf(headers: RequestHeaders): string | null {
  const form = headers.get("x-ms-structured-body");
  if (form === undefined) return null;
  if (form !== STRUCTURED_BODY) throw unknownForm(form);
  return form;
}

/** Makes a response body from stored bytes, with the headers that name its format. */
export function sentBody(
  reading: Reading,
  form: string | null,
): { readonly body: ResponseBody; readonly headers: readonly string[] } {
  if (form !== null) {
    const length = ["x-ms-structured-content-length", String(reading.length)];
    return { body: encodeStructured(reading), headers: ["x-ms-structured-body", form, ...length] };
  }
  if (reading.whole === null) return { body: reading, headers: [] };
  // Bytes already in memory are sent whole.
  reading.close();
  return { body: reading.whole, headers: [] };
}

const OF_NOTHING = { md5: createHash("md5").digest(), crc64: crc64(NO_BYTES) };

/** For requests that create something empty, or clear it. Digests must be those of no bytes. */
export function requireNoBody({ body, headers }: RestRequest): void {
  const { length } = body;
  if (length > 0) {
    throw invalidHeader("Content-Length", String(length), "There must be no body here.");
  }
  requireDigests(digestsOf(headers), OF_NOTHING);
}
