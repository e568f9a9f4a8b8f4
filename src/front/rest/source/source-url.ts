import { isPercentEncoded } from "../../../base/percent-text.ts";
import { invalidHeader } from "../request-headers.ts";

/** The URL in `x-ms-copy-source`, split as sent: names are never normalized. */
export interface SourceUrl {
  readonly secure: boolean;
  /** Host and port, as in a Host header. */
  readonly authority: string;
  /** Percent-encoded; at least `/`. */
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
}

export const SOURCE_HEADER = "x-ms-copy-source";
/** Holds the token for the source. */
export const AUTHORIZATION_HEADER = "x-ms-copy-source-authorization";
const SOURCE_URL_CHARS_MAX = 2_048;
const PARTS = /^(https?):\/\/([a-z0-9.:[\]_-]+)(\/[^?#\s]*)?(?:\?([^#\s]*))?$/i;

/** Query parameters that name the source; all others may be credentials, which are not shown. */
const NAMING: ReadonlySet<string> = new Set(["snapshot", "versionid", "sharesnapshot"]);

export function parseSourceUrl(text: string): SourceUrl {
  if (text.length > SOURCE_URL_CHARS_MAX) {
    throw invalidHeader(
      SOURCE_HEADER,
      shown(text),
      `It has at most ${SOURCE_URL_CHARS_MAX} chars.`,
    );
  }
  const found = PARTS.exec(text);
  if (found === null || !isPercentEncoded(text)) {
    const reason =
      "It must be an absolute URL, percent-encoded: http or https, without user names.";
    throw invalidHeader(SOURCE_HEADER, shown(text), reason);
  }
  const [, scheme = "", authority = "", path = "/", query = ""] = found;
  return { secure: scheme.toLowerCase() === "https", authority, path, query };
}

/** Formats the URL without credentials. */
export function publicUrl({ secure, authority, path, query }: SourceUrl): string {
  const named = query.split("&").filter((part) => NAMING.has(nameOf(part)));
  const behind = named.length === 0 ? "" : `?${named.join("&")}`;
  return `${secure ? "https" : "http"}://${authority}${path}${behind}`;
}

function nameOf(part: string): string {
  return (part.split("=", 1)[0] ?? "").toLowerCase();
}

/** Cuts off the query, so that no error message repeats a SAS. */
function shown(text: string): string {
  const mark = text.indexOf("?");
  return mark < 0 ? text : `${text.slice(0, mark)}?…`;
}
