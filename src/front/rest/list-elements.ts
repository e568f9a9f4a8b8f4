import type { Instant } from "../../base/clock.ts";
import { rfc1123 } from "../../base/time-text.ts";
import type { LeaseStatus } from "../../rules/lease.ts";
import type { Query } from "./http/exchange.ts";
import { attribute, element, hasInvalidXmlCharacters, XML_DECLARATION } from "./xml/write-xml.ts";

/** XML that all lists share. */

/** Renders the start of a list of containers, queues or shares, up to its first item. */
export function listStart(endpoint: string, query: Query, items: string): string {
  return (
    `${XML_DECLARATION}<EnumerationResults${attribute("ServiceEndpoint", endpoint)}>` +
    echoed(query, "prefix", "Prefix") +
    echoed(query, "marker", "Marker") +
    `${echoed(query, "maxresults", "MaxResults")}<${items}>`
  );
}

/** Repeats a request parameter in the response if it was sent. */
export function echoed(query: Query, parameter: string, name: string): string {
  const value = query.get(parameter);
  return value === undefined || value === "" ? "" : nameElement(name, value);
}

/** Renders a name, percent-encoded if XML cannot carry it. */
export function nameElement(element_: string, name: string): string {
  if (!hasInvalidXmlCharacters(name)) return element(element_, name);
  return `<${element_}${attribute("Encoded", "true")}>${encodeURIComponent(name)}</${element_}>`;
}

export function leaseElements(lease: LeaseStatus): string {
  const { status, state, duration } = lease;
  const both = `<LeaseStatus>${status}</LeaseStatus><LeaseState>${state}</LeaseState>`;
  return duration === null ? both : `${both}<LeaseDuration>${duration}</LeaseDuration>`;
}

export function metadataElement(metadata: readonly (readonly [string, string])[]): string {
  if (metadata.length === 0) return "<Metadata />";
  return `<Metadata>${metadata.map(([name, value]) => element(name, value)).join("")}</Metadata>`;
}

/** Renders when a soft-deleted item was deleted and how long it can be restored. */
export function deletionElements(deleted: { deletedMs: Instant; daysLeft: number }): string {
  const days = `<RemainingRetentionDays>${deleted.daysLeft}</RemainingRetentionDays>`;
  return `<DeletedTime>${rfc1123(deleted.deletedMs)}</DeletedTime>${days}`;
}
