import type { Instant } from "../../base/clock.ts";
import { KIB } from "../../base/limits.ts";
import { isoOfStamp, stampOf } from "../../base/stamp.ts";
import { parseIsoTime } from "../../base/time-text.ts";
import type { StoredPolicy } from "../../rules/access.ts";
import type { RestRequest } from "./http/exchange.ts";
import type { XmlElement } from "./xml/parse-xml.ts";
import { element, XML_DECLARATION } from "./xml/write-xml.ts";
import { readXmlBody } from "./xml-body.ts";
import {
  childOf,
  invalidNode,
  requireOnlyChildren,
  requireRoot,
  requireText,
  textOf,
} from "./xml-nodes.ts";

const BODY_BYTES_MAX = 64 * KIB;

/** Reads the stored access policies from the body of Set ACL; an empty body means none. */
export async function readSignedIdentifiers(request: RestRequest): Promise<StoredPolicy[]> {
  const body = await readXmlBody(request, BODY_BYTES_MAX);
  if (body === null) return [];
  const root = requireRoot(body, "SignedIdentifiers");
  requireOnlyChildren(root, ["SignedIdentifier"]);
  return root.children.map(policyOf);
}

/** A policy without terms has no `AccessPolicy` element. */
export function signedIdentifiersXml(policies: readonly StoredPolicy[]): string {
  const list = policies.map((policy) => {
    const terms =
      timeElement("Start", policy.startMs) +
      timeElement("Expiry", policy.expiryMs) +
      (policy.letters === null ? "" : element("Permission", policy.letters));
    const accessPolicy = terms === "" ? "" : `<AccessPolicy>${terms}</AccessPolicy>`;
    return `<SignedIdentifier>${element("Id", policy.id)}${accessPolicy}</SignedIdentifier>`;
  });
  if (list.length === 0) return `${XML_DECLARATION}<SignedIdentifiers />`;
  return `${XML_DECLARATION}<SignedIdentifiers>${list.join("")}</SignedIdentifiers>`;
}

function policyOf(identifier: XmlElement): StoredPolicy {
  requireOnlyChildren(identifier, ["Id", "AccessPolicy"]);
  const id = requireText(identifier, "Id");
  const terms = childOf(identifier, "AccessPolicy");
  if (terms === null) return { id, startMs: null, expiryMs: null, letters: null };
  requireOnlyChildren(terms, ["Start", "Expiry", "Permission"]);
  return {
    id,
    startMs: timeOf(terms, "Start"),
    expiryMs: timeOf(terms, "Expiry"),
    letters: textOf(terms, "Permission"),
  };
}

function timeOf(parent: XmlElement, name: string): Instant | null {
  const text = textOf(parent, name);
  if (text === null) return null;
  const time = parseIsoTime(text);
  if (time === null || time < 0) throw invalidNode(name, text);
  return time;
}

function timeElement(name: string, time: Instant | null): string {
  return time === null ? "" : element(name, isoOfStamp(stampOf(time)));
}
