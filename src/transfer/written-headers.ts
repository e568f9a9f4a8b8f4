import { element, XML_DECLARATION } from "../front/rest/xml/write-xml.ts";
import type { ContentHeaders, Pairs, Policy } from "./item.ts";
import type { Headers } from "./rest-client.ts";

/** How items are written as headers and bodies of requests. */

export function metadataHeaders(metadata: Pairs): Headers {
  return Object.fromEntries(metadata.map(([name, value]) => [`x-ms-meta-${name}`, value]));
}

/** `prefix` is `x-ms-blob-` or `x-ms-`. */
export function contentHeaders(content: ContentHeaders, prefix: string): Record<string, string> {
  const found: [string, string | undefined][] = [
    ["content-type", content.contentType],
    ["content-encoding", content.contentEncoding],
    ["content-language", content.contentLanguage],
    ["content-disposition", content.contentDisposition],
    ["cache-control", content.cacheControl],
    ["content-md5", content.contentMd5],
  ];
  return Object.fromEntries(
    found.flatMap(([name, value]) => (value === undefined ? [] : [[prefix + name, value]])),
  );
}

/** The document of Set ACL. */
export function policiesBody(policies: readonly Policy[]): Buffer {
  const list = policies.map(({ id, start, expiry, permission }) => {
    const terms = [
      ...(start === undefined ? [] : [element("Start", start)]),
      ...(expiry === undefined ? [] : [element("Expiry", expiry)]),
      ...(permission === undefined ? [] : [element("Permission", permission)]),
    ].join("");
    const policy = terms === "" ? "" : `<AccessPolicy>${terms}</AccessPolicy>`;
    return `<SignedIdentifier>${element("Id", id)}${policy}</SignedIdentifier>`;
  });
  return Buffer.from(`${XML_DECLARATION}<SignedIdentifiers>${list.join("")}</SignedIdentifiers>`);
}
