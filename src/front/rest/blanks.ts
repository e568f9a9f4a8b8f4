const SPACE = 0x20;
const TAB = 0x09;

/**
 * The part of `text` without the blanks around it, as HTTP has blanks. `trim` would also take the
 * last byte of "à" in UTF-8, which is a blank in Latin-1.
 */
export function trimBlanks(text: string, from = 0, until = text.length): string {
  let [start, end] = [from, until];
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(char: number): boolean {
  return char === SPACE || char === TAB;
}
