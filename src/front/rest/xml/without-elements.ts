/**
 * Start, end and empty tags. Text and attributes that this server writes contain no brackets, as
 * they are escaped.
 */
const TAG = /<(\/?)([^\s/>?]+)[^>]*?(\/?)>/g;

/**
 * Removes the elements at these paths (`Share/Properties/Quota`) from XML that this server wrote. A
 * path begins with the outermost element of the text, which may be part of a document.
 */
export function withoutElements(xml: string, paths: ReadonlySet<string>): string {
  let remaining = "";
  let copiedUpTo = 0;
  let path = "";
  /** The path of the element being removed. */
  let cut: string | null = null;
  for (const { 0: tag, 1: isEnd, 2: name, 3: isEmpty, index } of xml.matchAll(TAG)) {
    if (isEnd !== "") {
      if (path === cut) {
        copiedUpTo = index + tag.length;
        cut = null;
      }
      path = path.slice(0, Math.max(0, path.lastIndexOf("/")));
      continue;
    }
    const own = path === "" ? `${name}` : `${path}/${name}`;
    if (cut === null && paths.has(own)) {
      remaining += xml.slice(copiedUpTo, index);
      copiedUpTo = index + tag.length;
      if (isEmpty === "") cut = own;
    }
    if (isEmpty === "") path = own;
  }
  return remaining + xml.slice(copiedUpTo);
}
