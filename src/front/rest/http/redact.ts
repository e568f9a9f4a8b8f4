const REDACTED = "[redacted]";

/** Characters that a URL has only if its client has not encoded it. */
const NOT_IN_URLS = /[^\x21\x23-\x5b\x5d-\x7e]/g;
const BYTE_MAX = 0xff;

/**
 * A request target as it may be logged: without signatures, and with everything encoded that could
 * end a quoted text or a line.
 */
export function loggedTarget(target: string): string {
  return redactTarget(target).replace(NOT_IN_URLS, percentEncoded);
}

/** Heads are read with a character for each byte. */
function percentEncoded(character: string): string {
  const code = character.charCodeAt(0);
  const bytes = code > BYTE_MAX ? Buffer.from(character, "utf8") : [code];
  return [...bytes].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}

/** Removes the signature of a SAS from a URL or request target. */
export function redactTarget(target: string): string {
  const mark = target.indexOf("?");
  if (mark < 0) return target;
  const parts = target
    .slice(mark + 1)
    .split("&")
    .map((part) => {
      const equals = part.indexOf("=");
      return equals >= 0 && isSignature(part.slice(0, equals))
        ? `${part.slice(0, equals)}=${REDACTED}`
        : part;
    });
  return `${target.slice(0, mark)}?${parts.join("&")}`;
}

/** Ignores case and percent-encoding in the name. */
function isSignature(name: string): boolean {
  try {
    return decodeURIComponent(name).toLowerCase() === "sig";
  } catch {
    return false;
  }
}

/** The value of a header as it may be logged. */
export function redactHeader(name: string, value: string): string {
  switch (name.toLowerCase()) {
    case "authorization":
    case "x-ms-copy-source-authorization":
      return redactCredentials(value);
    case "x-ms-copy-source":
    case "x-ms-rename-source":
    case "x-ms-file-rename-source":
    case "referer":
    case "location": {
      const mark = value.indexOf("?");
      return mark < 0 ? value : `${value.slice(0, mark)}?${REDACTED}`;
    }
    case "x-ms-encryption-key":
    case "x-ms-source-encryption-key":
    case "cookie":
      return REDACTED;
    default:
      return value;
  }
}

/** Names and values in turn, as one line each. */
export function redactHeaders(headers: readonly string[]): string {
  let lines = "";
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] as string;
    lines += `\n  ${name}: ${redactHeader(name, headers[at + 1] as string)}`;
  }
  return lines;
}

/** Keeps the account of `SharedKey account:signature`, and at most the scheme of others. */
function redactCredentials(value: string): string {
  const sharedKey = /^SharedKey(?:Lite)? [a-z0-9-]{1,63}:/i.exec(value);
  if (sharedKey !== null) return sharedKey[0] + REDACTED;
  return value.startsWith("Bearer ") ? `Bearer ${REDACTED}` : REDACTED;
}
