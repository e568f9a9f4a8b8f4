import { Fault } from "../../../base/fault.ts";
import { TAGS_HEADER_CHARS_MAX } from "../../../base/limits.ts";
import { NO_TAGS, type Tags } from "../../../rules/tags.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { invalidHeader } from "../request-headers.ts";
import type { XmlElement } from "../xml/parse-xml.ts";
import { element } from "../xml/write-xml.ts";
import { childOf, requireOnlyChildren, requireRoot } from "../xml-nodes.ts";

/** Tags in headers and documents. */

/** `x-ms-tags` of an upload: written like a query. */
export function tagsOf(headers: RequestHeaders): Tags {
  const value = headers.get("x-ms-tags");
  if (value === undefined || value === "") return NO_TAGS;
  if (value.length > TAGS_HEADER_CHARS_MAX) {
    throw new Fault("TagsTooLarge", {
      Reason: `The header x-ms-tags has up to ${TAGS_HEADER_CHARS_MAX} characters.`,
    });
  }
  return value.split("&").map((pair): [string, string] => {
    const at = pair.indexOf("=");
    if (at < 0) throw invalidHeader("x-ms-tags", value, "It must look like name=value&name=value.");
    return [decoded(pair.slice(0, at), value), decoded(pair.slice(at + 1), value)];
  });
}

function decoded(part: string, whole: string): string {
  try {
    return decodeURIComponent(part.replaceAll("+", " "));
  } catch {
    throw invalidHeader("x-ms-tags", whole, "It is not percent-encoded UTF-8.");
  }
}

export function tagsOfXml(root: XmlElement | null): Tags {
  const all = requireRoot(root, "Tags");
  requireOnlyChildren(all, ["TagSet"]);
  const set = requireChild(all, "TagSet");
  requireOnlyChildren(set, ["Tag"]);
  return set.children.map((tag): [string, string] => {
    requireOnlyChildren(tag, ["Key", "Value"]);
    return [requireChild(tag, "Key").text, requireChild(tag, "Value").text];
  });
}

/** Blanks count in tags, so their texts are taken as they are. */
function requireChild(parent: XmlElement, name: string): XmlElement {
  const child = childOf(parent, name);
  if (child === null) throw new Fault("MissingRequiredXmlNode", { XmlNodeName: name });
  return child;
}

export function tagsElement(tags: Tags): string {
  const all = tags.map(([name, value]) => {
    return `<Tag>${element("Key", name)}${element("Value", value)}</Tag>`;
  });
  return `<Tags><TagSet>${all.join("")}</TagSet></Tags>`;
}
