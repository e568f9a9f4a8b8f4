import { DAY_MS } from "../base/limits.ts";
import { percentDecode } from "../base/percent-text.ts";
import { parseXml, type XmlElement } from "../front/rest/xml/parse-xml.ts";
import type { Answer } from "./answer.ts";
import type { Deletable, Pairs, Policy, Versioned } from "./item.ts";
import type { Asked, RestClient } from "./rest-client.ts";

/** Reads the XML lists of the services. */

/** All elements of a list, page by page. `path` leads to them from the root. */
export async function* listAll(
  client: RestClient,
  asked: Asked,
  path: readonly string[],
): AsyncGenerator<XmlElement> {
  for (let marker = ""; ; ) {
    const query = { ...asked.query, ...(marker === "" ? {} : { marker }) };
    const root = await client.xml({ ...asked, query });
    let found: readonly XmlElement[] = [root];
    for (const name of path) {
      found = found.flatMap(({ children }) => children.filter((child) => child.name === name));
    }
    yield* found;
    marker = textAt(root, "NextMarker") ?? "";
    if (marker === "") return;
  }
}

export function childAt(parent: XmlElement, name: string): XmlElement | undefined {
  return parent.children.find((child) => child.name === name);
}

/** The text of a child; undefined if it is missing or empty. */
export function textAt(parent: XmlElement | undefined, name: string): string | undefined {
  const text = parent === undefined ? undefined : childAt(parent, name)?.text;
  return text === "" ? undefined : text;
}

/** A name; those that XML cannot carry are percent-encoded. */
export function nameAt(parent: XmlElement): string {
  const found = childAt(parent, "Name");
  const isEncoded = found?.attributes.get("Encoded") === "true";
  const text = found?.text ?? "";
  return isEncoded ? (percentDecode(text) ?? text) : text;
}

/** The children of a child, as names and values. */
export function pairsAt(parent: XmlElement, name: string): Pairs {
  return childAt(parent, name)?.children.map((child) => [child.name, child.text]) ?? [];
}

/** The stored access policies; none if the credentials are a SAS, which never permits to read them. */
export async function policiesAt(client: RestClient, asked: Asked): Promise<Policy[]> {
  const isSas = "sas" in client.address.credentials;
  const { status, bytes } = await client.request({ ...asked, expects: isSas ? [403] : [] });
  if (status !== 200 || bytes.length === 0) return [];
  const root = parseXml(bytes);
  return root.children.map((identifier) => {
    const terms = childAt(identifier, "AccessPolicy");
    const fields = { start: "Start", expiry: "Expiry", permission: "Permission" };
    const found = Object.entries(fields).flatMap(([field, name]) => {
      const value = textAt(terms, name);
      return value === undefined ? [] : [[field, value]];
    });
    return { id: textAt(identifier, "Id") ?? "", ...Object.fromEntries(found) };
  });
}

/** ETag and time of last change in a list. */
export function versionedAt(found: XmlElement): Versioned {
  const properties = childAt(found, "Properties");
  const [etag, modified] = [textAt(properties, "Etag"), textAt(properties, "Last-Modified")];
  return {
    ...(etag === undefined ? {} : { etag }),
    ...(modified === undefined ? {} : { modified }),
  };
}

/** The same in the headers of an answer. */
export function versionedIn(answer: Answer): Versioned {
  const [etag, modified] = [answer.header("etag"), answer.header("last-modified")];
  return {
    ...(etag === undefined ? {} : { etag }),
    ...(modified === undefined ? {} : { modified }),
  };
}

/** What a list tells of a deleted container or share. */
export function deletableAt(found: XmlElement): Deletable {
  const version = textAt(found, "Version");
  const properties = childAt(found, "Properties");
  if (version === undefined || textAt(found, "Deleted") !== "true") return {};
  return { version, ...retentionAt((name) => textAt(properties, name)) };
}

/** Lists tell whole days: the end is as many days behind the deletion as the policy said. */
export function retentionAt(
  text: (name: string) => string | undefined,
): Pick<Deletable, "deleted" | "until"> {
  const deletedMs = Date.parse(text("DeletedTime") ?? "");
  if (Number.isNaN(deletedMs)) return {};
  const daysLeft = Number(text("RemainingRetentionDays") ?? "0");
  const days = daysLeft + Math.floor((Date.now() - deletedMs) / DAY_MS) + 1;
  const iso = (ms: number) => new Date(ms).toISOString();
  return { deleted: iso(deletedMs), until: iso(deletedMs + days * DAY_MS) };
}

/** Metadata in the headers of an answer, with the case of their names. */
export function metadataIn(raw: readonly string[]): Pairs {
  const found: [string, string][] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] as string;
    if (name.toLowerCase().startsWith("x-ms-meta-")) {
      found.push([name.slice("x-ms-meta-".length), raw[at + 1] as string]);
    }
  }
  return found;
}
