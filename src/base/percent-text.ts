/**
 * Percent-encoded text, decoded. Null if it is none, or if its bytes are not UTF-8: cut and overlong
 * sequences are not, and neither are halves of surrogate pairs.
 */
export function percentDecode(encoded: string): string | null {
  if (!encoded.includes("%")) return encoded;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return null;
  }
}

const NOT_PRINTABLE_ASCII = /[^\x21-\x7e]/;

/** Whether everything in a URL that is no printable ASCII has been percent-encoded, as it must be. */
export function isPercentEncoded(url: string): boolean {
  return !NOT_PRINTABLE_ASCII.test(url);
}
