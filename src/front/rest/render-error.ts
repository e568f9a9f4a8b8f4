import type { Fault } from "../../base/fault.ts";
import { isoOfStamp, stampOf } from "../../base/stamp.ts";
import { DATALAKE_FAULTS, FILE_MESSAGES, REST_FAULTS } from "./fault-status.ts";
import type { RestRequest, RestResponse } from "./http/exchange.ts";
import { element, XML_DECLARATION } from "./xml/write-xml.ts";

export interface ErrorOptions {
  /** Makes the `WWW-Authenticate` header of a 401, which says how to get a token. */
  readonly challenge?: (request: RestRequest) => string;
  /** The index of the refused operation in a batch; the message begins with it. */
  readonly index?: number;
  /** Messages that replace the usual ones. */
  readonly messages?: typeof FILE_MESSAGES;
  /** Codes and messages that replace the usual ones. */
  readonly faults?: typeof DATALAKE_FAULTS;
}

export function renderFileError(
  fault: Fault,
  request: RestRequest,
  options: ErrorOptions,
): RestResponse {
  return renderXmlError(fault, request, { ...options, messages: FILE_MESSAGES });
}

/** Renders an error of Blob or Queue. */
export function renderXmlError(
  fault: Fault,
  request: RestRequest,
  options: ErrorOptions = {},
): RestResponse {
  return answer(fault, request, options, "application/xml", (code, message, details) => {
    const extra = details.map(([name, value]) => element(name, value)).join("");
    const error = element("Code", code) + element("Message", message) + extra;
    return `${XML_DECLARATION}<Error>${error}</Error>`;
  });
}

/** Renders an error of Table. */
export function renderTableError(
  fault: Fault,
  request: RestRequest,
  options: ErrorOptions = {},
): RestResponse {
  const type = "application/json;odata=minimalmetadata;streaming=true;charset=utf-8";
  return answer(fault, request, options, type, (code, message, details) => {
    const value = withDetails(message, details);
    return JSON.stringify({ "odata.error": { code, message: { lang: "en-US", value } } });
  });
}

/** Renders an error of the Data Lake endpoint. */
export function renderDfsError(
  fault: Fault,
  request: RestRequest,
  options: ErrorOptions = {},
): RestResponse {
  const type = "application/json;charset=utf-8";
  const own = { ...options, faults: DATALAKE_FAULTS };
  return answer(fault, request, own, type, (code, message, details) =>
    JSON.stringify({ error: { code, message: withDetails(message, details) } }),
  );
}

/** Short, since overload and restarts pass quickly. */
const RETRY_AFTER_SECONDS = "1";

type Details = readonly (readonly [name: string, value: string])[];

/** Details sent as headers only: a 304 repeats the ETag, a 416 gives the size. */
const HEADER_DETAILS: ReadonlySet<string> = new Set(["ETag", "Last-Modified", "Content-Range"]);

/** Details sent as headers and in the body. */
const ALSO_HEADERS: ReadonlyMap<string, string> = new Map([
  ["CopySourceStatusCode", "x-ms-copy-source-status-code"],
  ["CopySourceErrorCode", "x-ms-copy-source-error-code"],
]);

function answer(
  fault: Fault,
  request: RestRequest,
  { challenge, index, messages, faults }: ErrorOptions,
  contentType: string,
  renderBody: (code: string, message: string, details: Details) => string,
): RestResponse {
  const { status } = REST_FAULTS[fault.code];
  const { code, message } = faults?.[fault.code] ?? REST_FAULTS[fault.code];
  const entries = Object.entries(fault.detail);
  const headers = entries.filter(([name]) => HEADER_DETAILS.has(name)).flat();
  for (const [name, value] of entries) {
    const header = ALSO_HEADERS.get(name);
    if (header !== undefined) headers.push(header, value);
  }
  headers.push("x-ms-error-code", code);
  if (status === 401 && challenge !== undefined) {
    headers.push("WWW-Authenticate", challenge(request));
  }
  if (status === 503) headers.push("Retry-After", RETRY_AFTER_SECONDS);
  if (request.method === "HEAD" || status === 304) return { status, headers, body: null };
  headers.push("Content-Type", contentType);
  const time = isoOfStamp(stampOf(request.receivedMs));
  const prefix = index === undefined ? "" : `${index}:`;
  const sentence = fault.sentence ?? messages?.[fault.code] ?? message;
  const text = `${prefix}${sentence}\nRequestId:${request.id}\nTime:${time}`;
  const details = entries.filter(([name]) => !HEADER_DETAILS.has(name));
  return { status, headers, body: renderBody(code, text, details) };
}

/** Appends the details to the message, as JSON errors have no fields for them. */
function withDetails(message: string, details: Details): string {
  return message + details.map(([name, value]) => `\n${name}:${value}`).join("");
}
