import { Fault } from "../../../base/fault.ts";
import type { RequestHeaders, RestRequest } from "../http/exchange.ts";

/** How much metadata an answer has besides the values. */
export type MetadataLevel = "none" | "minimal" | "full";

const LEVELS: Readonly<Record<string, MetadataLevel>> = {
  nometadata: "none",
  minimalmetadata: "minimal",
  fullmetadata: "full",
};

const JSON_TYPES = ["application/json", "application/*", "*/*", "json"];

let lastAsked = "";
let lastLevel: MetadataLevel = "minimal";

/**
 * The level by `$format`, or else `Accept`: the first listed type that we can write. Results are
 * cached, because clients repeat the same header.
 */
export function metadataLevelOf({ query, headers }: RestRequest): MetadataLevel {
  const asked = query.get("$format") ?? headers.get("accept") ?? "";
  if (asked !== lastAsked) {
    lastLevel = levelOf(asked);
    lastAsked = asked;
  }
  return lastLevel;
}

function levelOf(asked: string): MetadataLevel {
  if (asked === "") return "minimal";
  const types = asked.toLowerCase().split(",");
  for (const type of types) {
    const level = levelOfType(type);
    if (level !== null) return level;
  }
  throw unsupported(types);
}

/** Bodies of requests must be JSON. */
export function requireJsonContent(headers: RequestHeaders): void {
  const sent = headers.get("content-type") ?? "application/json";
  if (sent === "application/json") return;
  const type = sent.toLowerCase();
  if (mediaType(type) !== "application/json") throw unsupported([type]);
}

export function jsonContent(level: MetadataLevel): string[] {
  return [
    "Content-Type",
    `application/json;odata=${level === "none" ? "no" : level}metadata;streaming=true;charset=utf-8`,
  ];
}

function levelOfType(type: string): MetadataLevel | null {
  if (!JSON_TYPES.includes(mediaType(type))) return null;
  const odata = /;\s*odata\s*=\s*"?(\w+)"?/.exec(type)?.[1];
  return odata === undefined ? "minimal" : (LEVELS[odata] ?? null);
}

function mediaType(type: string): string {
  return (type.split(";")[0] ?? "").trim();
}

function unsupported(types: readonly string[]): Fault {
  const isAtom = types.some((type) => mediaType(type) === "application/atom+xml");
  return new Fault(isAtom ? "AtomFormatNotSupported" : "MediaTypeNotSupported", {
    Reason: "Ask for JSON, such as application/json;odata=minimalmetadata.",
  });
}
