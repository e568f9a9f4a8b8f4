const REDACTED = "[redacted]";

/** A character, or its code with a percent sign that may be encoded in turn. */
const encoded = (character: string, codes: string) => `(?:${character}|%(?:25)*${codes})`;
const NAME = encoded("s", "[57]3") + encoded("i", "[46]9") + encoded("g", "[46]7");
const SIGNATURE_NAME = new RegExp(NAME, "i");
const SEPARATOR = `(?:[?&;\\s]|%(?:25)*(?:3f|26|3b|20))`;
/** The name with what stands before and behind it, and its value. */
const SIGNATURE = new RegExp(
  `((?:^|${SEPARATOR})${NAME}${encoded("=", "3d")}).*?(?=[&\\s]|%(?:25)*(?:26|20)|$)`,
  "gi",
);

/** Most targets: no query, nothing encoded and nothing to encode. No signature can be in them. */
const PLAIN_TARGET = /^[\x21\x23\x24\x26-\x3e\x40-\x5b\x5d-\x7e]*$/;
/** Characters that a URL has only if its client has not encoded it. */
const NOT_IN_URLS = /[^\x21\x23-\x5b\x5d-\x7e]/g;
const BYTE_MAX = 0xff;

/**
 * A request target as it may be logged: without signatures, and with everything encoded that could
 * end a quoted text or a line.
 */
export function loggedTarget(target: string): string {
  if (PLAIN_TARGET.test(target)) return target;
  return redactSignatures(target).replace(NOT_IN_URLS, percentEncoded);
}

/** Heads are read with a character for each byte. */
function percentEncoded(character: string): string {
  const code = character.charCodeAt(0);
  const bytes = code > BYTE_MAX ? Buffer.from(character, "utf8") : [code];
  return [...bytes].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}

/**
 * Removes the signatures of SAS from a URL, a request target or any other text: in whatever case,
 * encoded or not, also if a client has encoded the query as part of the path or of a parameter.
 */
export function redactSignatures(text: string): string {
  return SIGNATURE_NAME.test(text) ? text.replace(SIGNATURE, `$1${REDACTED}`) : text;
}

/** Headers whose values are secrets by their names. Metadata of such a name is lost with them. */
const SECRET_NAME = /(?:^|-)(?:authorization|cookie|token|secret|password|(?:api)?key)$/;

/** The value of a header as it may be logged. */
export function redactHeader(name: string, value: string): string {
  const lowerName = name.toLowerCase();
  switch (lowerName) {
    case "authorization":
    case "x-ms-copy-source-authorization":
      return redactCredentials(value);
    case "x-ms-copy-source":
    case "x-ms-rename-source":
    case "x-ms-file-rename-source":
    case "referer":
    case "location": {
      const mark = value.indexOf("?");
      const path = redactSignatures(mark < 0 ? value : value.slice(0, mark));
      return mark < 0 ? path : `${path}?${REDACTED}`;
    }
    default:
      return SECRET_NAME.test(lowerName) ? REDACTED : redactSignatures(value);
  }
}

/** Writes each name with its value on a line. */
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
