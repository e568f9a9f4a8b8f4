import { newGuid } from "../../../base/ids.ts";
import type { RestResponse } from "../http/exchange.ts";
import { renderInnerResponse } from "../inner-request.ts";
import { CRLF, joinParts } from "../multipart.ts";
import { DATA_HEADERS } from "./call.ts";

/** The answers to a change set, or its one refusal, as rendered by `renderPart`. */
export function answerWithChanges(parts: readonly string[]): RestResponse {
  const boundary = `changesetresponse_${newGuid()}`;
  const head = `Content-Type: multipart/mixed; boundary=${boundary}`;
  return answerWith([head + CRLF + CRLF + joinParts(parts, boundary)]);
}

export function answerWithQuery(part: string): RestResponse {
  return answerWith([part]);
}

/** Renders one answer as a part of the answer to a batch. */
export function renderPart(
  { status, headers, body }: RestResponse,
  contentId: string | null,
): string {
  const named = contentId === null ? headers : ["Content-ID", contentId, ...headers];
  return renderInnerResponse(["Content-Transfer-Encoding: binary"], {
    status,
    headers: named,
    body,
  });
}

function answerWith(parts: readonly string[]): RestResponse {
  const boundary = `batchresponse_${newGuid()}`;
  const headers = [...DATA_HEADERS, "Content-Type", `multipart/mixed; boundary=${boundary}`];
  return { status: 202, headers, body: joinParts(parts, boundary) };
}
