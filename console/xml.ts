/** The texts of an element's children, by name: `Properties` and others are reached by a path. */
export function textAt(element: Element | Document, path: string): string {
  return element.querySelector(path.split("/").join(" > "))?.textContent ?? "";
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
