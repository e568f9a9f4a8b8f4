/** Percent-encoded bytes that look like UTF-8 but are not. */
export const BROKEN_UTF8 = [
  // Halves of surrogate pairs, and both halves of one.
  ...["%ED%A0%80", "%ED%AF%BF", "%ED%B0%80", "%ED%BF%BF", "%ED%A0%BD%ED%B8%80"],
  // Overlong: a slash, and the last ASCII character.
  ...["%C0%AF", "%E0%80%AF", "%F0%80%80%AF", "%C1%BF"],
  // Truncated, without a lead byte, and beyond Unicode.
  ...["%C3", "%E2%82", "%F0%9F%98", "%80", "%BF", "%FF", "%FE", "%F5%80%80%80", "%F4%90%80%80"],
];
