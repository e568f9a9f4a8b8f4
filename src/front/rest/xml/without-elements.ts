/** Start, end and empty tags. Our own text and attributes hold no brackets, as they are escaped. */
const TAG = /<(\/?)([^\s/>?]+)[^>]*?(\/?)>/g;

/**
 * XML that this server wrote, without the elements at these paths (`Share/Properties/Quota`). A path
 * begins with the outermost element of the text, which may be a part of a document.
 */
export function withoutElements(xml: string, paths: ReadonlySet<string>): string {
  let kept = "";
  let keptUpTo = 0;
  let path = "";
  /** The path of the element that is being left out. */
  let cut: string | null = null;
  for (const { 0: tag, 1: isEnd, 2: name, 3: isEmpty, index } of xml.matchAll(TAG)) {
    if (isEnd !== "") {
      if (path === cut) {
        keptUpTo = index + tag.length;
        cut = null;
      }
      path = path.slice(0, Math.max(0, path.lastIndexOf("/")));
      continue;
    }
    const own = path === "" ? `${name}` : `${path}/${name}`;
    if (cut === null && paths.has(own)) {
      kept += xml.slice(keptUpTo, index);
      keptUpTo = index + tag.length;
      if (isEmpty === "") cut = own;
    }
    if (isEmpty === "") path = own;
  }
  return kept + xml.slice(keptUpTo);
}
