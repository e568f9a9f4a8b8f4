/** Writes XML as text: a response is concatenated from these pieces. */

export const XML_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>';

/** Formats `<name>text</name>`. The name is trusted; the text may be anything. */
export function element(name: string, text: string): string {
  return text === "" ? `<${name} />` : `<${name}>${escaped(text, SPECIAL_IN_TEXT)}</${name}>`;
}

/** Formats ` name="value"` for a start tag. */
export function attribute(name: string, value: string): string {
  return ` ${name}="${escaped(value, SPECIAL_IN_ATTRIBUTE)}"`;
}

/** Characters that XML 1.0 cannot carry, not even as a reference. */
export const XML_INVALID = /[^\t\n\r\x20-\ufffd]/;

export function hasInvalidXmlCharacters(text: string): boolean {
  return XML_INVALID.test(text);
}

// Matches &, <, > and carriage returns, which would be read back as line feeds.
const SPECIAL_IN_TEXT = /[^\t\n\x20-%'-;=?-\ufffd]/g;
// Matches &, <, >, quotes and white space other than blanks, which would be read as blanks.
const SPECIAL_IN_ATTRIBUTE = /[^\x20!#-%'-;=?-\ufffd]/g;

function escaped(text: string, special: RegExp): string {
  return text.search(special) < 0 ? text : text.replace(special, escapedCharacter);
}

/**
 * Replaces characters that XML cannot carry by U+FFFD. Callers that must not lose them check
 * `hasInvalidXmlCharacters`.
 */
function escapedCharacter(character: string): string {
  switch (character) {
    case "&":
      return "&amp;";
    case "<":
      return "&lt;";
    case ">":
      return "&gt;";
    case '"':
      return "&quot;";
    case "\t":
      return "&#x9;";
    case "\n":
      return "&#xA;";
    case "\r":
      return "&#xD;";
    default:
      return "\ufffd";
  }
}
