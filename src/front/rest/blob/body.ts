import type { Body } from "../../../base/bytes.ts";
import { Fault } from "../../../base/fault.ts";
import { MIB } from "../../../base/limits.ts";
import type { RestRequest } from "../http/exchange.ts";
import { invalidHeader, numberOf } from "../request-headers.ts";
import { decodeStructured, STRUCTURED_BODY } from "./structured-body.ts";

/** A body that will be stored, and the headers with which its form is confirmed. */
export interface IncomingBody {
  readonly body: Body;
  readonly echo: readonly string[];
}

/** Refuses by the headers alone, so that a body that is too large is never read. */
export function incomingBody(request: RestRequest, bytesMax: number): IncomingBody {
  const { headers } = request;
  if (headers.get("content-length") === undefined) throw new Fault("MissingContentLengthHeader");
  const form = headers.get("x-ms-structured-body");
  if (form === undefined) {
    refuseLength(request.body.length, bytesMax);
    return { body: request.body, echo: [] };
  }
  if (form !== STRUCTURED_BODY) throw unknownForm(form);
  const name = "x-ms-structured-content-length";
  const length = numberOf(headers, name, 0, Number.MAX_SAFE_INTEGER);
  if (length === null) throw new Fault("MissingRequiredHeader", { HeaderName: name });
  refuseLength(length, bytesMax);
  return {
    body: decodeStructured(request.body, length),
    echo: ["x-ms-structured-body", STRUCTURED_BODY],
  };
}

export function unknownForm(form: string): Fault {
  return invalidHeader("x-ms-structured-body", form, `It must be ${STRUCTURED_BODY}.`);
}

function refuseLength(length: number, bytesMax: number): void {
  if (length <= bytesMax) return;
  throw new Fault("RequestBodyTooLarge", { MaxLimit: String(bytesMax) });
}

/** Where a blob is created without bytes. */
export function refuseBody(request: RestRequest): void {
  const { length } = request.body;
  if (length === 0) return;
  throw invalidHeader("Content-Length", String(length), "There must be no body here.");
}

/** Limits grew over the versions of the protocol, which compare as text. */
export function putBlobBytesMax(version: string): number {
  if (version >= "2019-12-12") return 5_000 * MIB;
  return version >= "2016-05-31" ? 256 * MIB : 64 * MIB;
}

export function putBlockBytesMax(version: string): number {
  if (version >= "2019-12-12") return 4_000 * MIB;
  return version >= "2016-05-31" ? 100 * MIB : 4 * MIB;
}

export function appendBlockBytesMax(version: string): number {
  return version >= "2022-11-02" ? 100 * MIB : 4 * MIB;
}
