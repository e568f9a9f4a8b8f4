import type { RequestHeaders } from "../http/exchange.ts";
import { invalidHeader } from "../request-headers.ts";

const OPTION = "x-ms-copy-source-tag-option";

/** Whether a copy takes over its source's tags. Such a copy may not set tags. */
export function copiesTagsOf(headers: RequestHeaders): boolean {
  const value = headers.get(OPTION);
  if (value === undefined || value === "") return false;
  const option = value.toUpperCase();
  if (option !== "COPY" && option !== "REPLACE") {
    throw invalidHeader(OPTION, value, "It must be COPY or REPLACE.");
  }
  if (option === "COPY" && (headers.get("x-ms-tags") ?? "") !== "") {
    throw invalidHeader(OPTION, value, "With COPY, leave out x-ms-tags.");
  }
  return option === "COPY";
}
