import { Fault } from "../../base/fault.ts";
import type { XmlElement } from "./xml/parse-xml.ts";

/** Parses elements of request documents. A malformed element is refused by name. */

export function requireRoot(root: XmlElement | null, name: string): XmlElement {
  if (root === null) throw new Fault("InvalidXmlDocument", { Reason: "The body is empty." });
  if (root.name !== name) {
    throw new Fault("InvalidXmlDocument", { Reason: `The root element must be ${name}.` });
  }
  return root;
}

/** Returns a child; null if there is none. Refuses duplicates, which are ambiguous. */
export function childOf(parent: XmlElement, name: string): XmlElement | null {
  const [found, second] = parent.children.filter((child) => child.name === name);
  if (second === undefined) return found ?? null;
  throw new Fault("InvalidXmlDocument", { Reason: `${name} stands twice in ${parent.name}.` });
}

/** Returns the text of a child; null if it is missing or empty. */
export function textOf(parent: XmlElement, name: string): string | null {
  const text = childOf(parent, name)?.text.trim() ?? "";
  return text === "" ? null : text;
}

export function requireText(parent: XmlElement, name: string): string {
  const text = textOf(parent, name);
  if (text === null) throw new Fault("MissingRequiredXmlNode", { XmlNodeName: name });
  return text;
}

/** Reads `true` or `false`; null if the child is missing. */
export function flagOf(parent: XmlElement, name: string): boolean | null {
  const text = textOf(parent, name)?.toLowerCase() ?? null;
  if (text === null) return null;
  if (text !== "true" && text !== "false") throw invalidNode(name, text);
  return text === "true";
}

export function requireFlag(parent: XmlElement, name: string): boolean {
  const flag = flagOf(parent, name);
  if (flag === null) throw new Fault("MissingRequiredXmlNode", { XmlNodeName: name });
  return flag;
}

/** Reads an integer within bounds. */
export function numberIn(parent: XmlElement, name: string, min: number, max: number): number {
  const text = requireText(parent, name);
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= min && number <= max)) throw invalidNode(name, text);
  return number;
}

/** Refuses children other than these. */
export function requireOnlyChildren(parent: XmlElement, names: readonly string[]): void {
  for (const child of parent.children) {
    if (!names.includes(child.name)) {
      throw new Fault("UnsupportedXmlNode", { XmlNodeName: child.name });
    }
  }
}

export function invalidNode(name: string, value: string, reason?: string): Fault {
  const detail = { XmlNodeName: name, XmlNodeValue: value };
  return new Fault(
    "InvalidXmlNodeValue",
    reason === undefined ? detail : { ...detail, Reason: reason },
  );
}
