/** Printable ASCII without quotes and backslashes: most names. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
/** Control characters, line ends of any kind, marks that change the direction of text. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]/gu;

/**
 * Quotes a text from the network as a JSON string for a line of a log. Characters that could end
 * the line, or hide or reorder what stands in it, are escaped.
 */
export function quotedText(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return JSON.stringify(text).replace(HIDDEN, escapeUnits);
}

function escapeUnits(character: string): string {
  let escaped = "";
  for (let at = 0; at < character.length; at++) {
    escaped += `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }
  return escaped;
}
