/**
 * Decodes percent-encoded text. Null if it is malformed, or if its bytes are not UTF-8: truncated
 * and overlong sequences and halves of surrogate pairs are not.
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

/** Whether a URL is printable ASCII only: it must percent-encode everything else. */
export function isPercentEncoded(url: string): boolean {
  return !NOT_PRINTABLE_ASCII.test(url);
}
