import { Fault } from "../../../base/fault.ts";
import { PAGE_BLOB_BYTES_MAX, PAGE_BYTES, SEQUENCE_NUMBER_MAX } from "../../../base/limits.ts";
import type { SequenceAction, SequenceConditions } from "../../../rules/sequence-number.ts";
import type { PageRange } from "../../../service/blob/put-page.ts";
import { rangeOf } from "../byte-range.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { invalidHeader, numberOf } from "../request-headers.ts";

/** Parses the headers of page blobs. */

const LENGTH = "x-ms-blob-content-length";
const NUMBER = "x-ms-blob-sequence-number";
const ACTION = "x-ms-sequence-number-action";

export function pageBlobLengthOf(headers: RequestHeaders): number | null {
  const length = numberOf(headers, LENGTH, 0, PAGE_BLOB_BYTES_MAX);
  if (length !== null && length % PAGE_BYTES !== 0) {
    throw invalidHeader(LENGTH, String(length), `It must be a multiple of ${PAGE_BYTES}.`);
  }
  return length;
}

export function sequenceNumberOf(headers: RequestHeaders, name: string): bigint | null {
  const value = headers.get(name);
  if (value === undefined || value === "") return null;
  const number = /^\d{1,19}$/.test(value) ? BigInt(value) : -1n;
  if (number < 0n || number > SEQUENCE_NUMBER_MAX) {
    throw invalidHeader(name, value, `It is a number from 0 to ${SEQUENCE_NUMBER_MAX}.`);
  }
  return number;
}

export function sequenceConditionsOf(headers: RequestHeaders): SequenceConditions {
  return {
    atMost: sequenceNumberOf(headers, "x-ms-if-sequence-number-le"),
    below: sequenceNumberOf(headers, "x-ms-if-sequence-number-lt"),
    equal: sequenceNumberOf(headers, "x-ms-if-sequence-number-eq"),
  };
}

export function sequenceActionOf(headers: RequestHeaders): SequenceAction | null {
  const number = sequenceNumberOf(headers, NUMBER);
  const value = headers.get(ACTION);
  if (value === undefined || value === "") {
    if (number === null) return null;
    throw new Fault("MissingRequiredHeader", { HeaderName: ACTION });
  }
  const action = value.toLowerCase();
  if (action === "increment") {
    if (number === null) return { action };
    throw invalidHeader(NUMBER, String(number), "An increment takes no number.");
  }
  if (action !== "max" && action !== "update") {
    throw invalidHeader(ACTION, value, "It must be max, update or increment.");
  }
  if (number === null) throw new Fault("MissingRequiredHeader", { HeaderName: NUMBER });
  return { action, number };
}

/** The range must have both ends, at page boundaries. */
export function pageRangeOf(headers: RequestHeaders): PageRange {
  const range = rangeOf(headers);
  if (range === null) throw new Fault("MissingRequiredHeader", { HeaderName: "x-ms-range" });
  const { from, to } = range;
  if (to === null || from % PAGE_BYTES !== 0 || (to + 1) % PAGE_BYTES !== 0) {
    throw new Fault("InvalidPageRange", {
      Reason: `A range begins and ends with a page of ${PAGE_BYTES} bytes, as in bytes=0-511.`,
    });
  }
  return { from, until: to + 1 };
}
