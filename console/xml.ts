/** The text of an element below another, by its path: `Properties/Etag`; "" if it is missing. */
export function textAt(element: Element, path: string): string {
  let found: Element | null = element;
  // By steps: a selector would cost several times as much, for each of 1,000 rows.
  for (const name of path.split("/")) found = childOf(found, name);
  return found?.textContent ?? "";
}

function childOf(element: Element | null, name: string): Element | null {
  let child = element?.firstElementChild ?? null;
  while (child !== null && child.tagName !== name) child = child.nextElementSibling;
  return child;
}

export function elements(document: Document, name: string): Element[] {
  return [...document.getElementsByTagName(name)];
}

/** Name and text of each child. */
export function children(element: Element | null): [string, string][] {
  return [...(element?.children ?? [])].map((child) => [child.tagName, child.textContent ?? ""]);
}

export function escapeXml(text: string): string {
  return text.replace(/[&<>]/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[char] ?? "");
}
