import { KIB, RETENTION_DAYS_MAX } from "../../base/limits.ts";
import type { CorsRule } from "../../rules/cors-rules.ts";
import type { Logging, Metrics, ServiceProperties } from "../../service/account/records.ts";
import { isProtocolVersion } from "./http/protocol-version.ts";
import type { XmlElement } from "./xml/parse-xml.ts";
import { element } from "./xml/write-xml.ts";
import {
  childOf,
  flagOf,
  invalidNode,
  numberIn,
  requireFlag,
  requireOnlyChildren,
  requireText,
  textOf,
} from "./xml-nodes.ts";

/** The properties that every service has, as XML elements of `StorageServiceProperties`. */

/** Elements introduced in version 2013-08-15. */
export const SERVICE_PROPERTY_FIELDS = [
  "StorageServiceProperties/MinuteMetrics",
  "StorageServiceProperties/Cors",
];

export const SERVICE_PROPERTIES_BYTES_MAX = 64 * KIB;
const MAX_AGE_SECONDS_MAX = 2 ** 31 - 1;
const VERSION_CHARS_MAX = 10;

/** Reads the properties that a client changes: those whose elements are sent. */
export function servicePropertiesOf(root: XmlElement): Partial<ServiceProperties> {
  const logging = childOf(root, "Logging");
  const hourMetrics = childOf(root, "HourMetrics");
  const minuteMetrics = childOf(root, "MinuteMetrics");
  const cors = childOf(root, "Cors");
  const version = textOf(root, "DefaultServiceVersion");
  return {
    ...(logging !== null && { logging: loggingOf(logging) }),
    ...(hourMetrics !== null && { hourMetrics: metricsOf(hourMetrics) }),
    ...(minuteMetrics !== null && { minuteMetrics: metricsOf(minuteMetrics) }),
    ...(cors !== null && { cors: corsOf(cors) }),
    ...(version !== null && { defaultServiceVersion: serviceVersionOf(version) }),
  };
}

export function servicePropertiesXml(properties: ServiceProperties): string {
  const { logging, hourMetrics, minuteMetrics, cors, defaultServiceVersion } = properties;
  return (
    `<Logging>${element("Version", logging.version)}${element("Read", String(logging.read))}` +
    element("Write", String(logging.write)) +
    `${element("Delete", String(logging.delete))}${retentionXml(logging.retentionDays)}</Logging>` +
    `<HourMetrics>${metricsXml(hourMetrics)}</HourMetrics>` +
    `<MinuteMetrics>${metricsXml(minuteMetrics)}</MinuteMetrics>` +
    (cors.length === 0 ? "<Cors />" : `<Cors>${cors.map(corsRuleXml).join("")}</Cors>`) +
    (defaultServiceVersion === null ? "" : element("DefaultServiceVersion", defaultServiceVersion))
  );
}

function loggingOf(found: XmlElement): Logging {
  requireOnlyChildren(found, ["Version", "Read", "Write", "Delete", "RetentionPolicy"]);
  return {
    version: versionOf(found),
    read: requireFlag(found, "Read"),
    write: requireFlag(found, "Write"),
    delete: requireFlag(found, "Delete"),
    retentionDays: retentionDaysOf(found),
  };
}

function metricsOf(found: XmlElement): Metrics {
  requireOnlyChildren(found, ["Version", "Enabled", "IncludeAPIs", "RetentionPolicy"]);
  return {
    version: versionOf(found),
    enabled: requireFlag(found, "Enabled"),
    includeApis: flagOf(found, "IncludeAPIs"),
    retentionDays: retentionDaysOf(found),
  };
}

/** Reads the analytics version. Only 1.0 and 2.0 exist. */
function versionOf(parent: XmlElement): string {
  const version = textOf(parent, "Version") ?? "1.0";
  if (version.length > VERSION_CHARS_MAX) throw invalidNode("Version", version);
  return version;
}

function retentionDaysOf(parent: XmlElement): number | null {
  const policy = childOf(parent, "RetentionPolicy");
  if (policy === null) return null;
  requireOnlyChildren(policy, ["Enabled", "Days"]);
  if (!requireFlag(policy, "Enabled")) return null;
  return numberIn(policy, "Days", 1, RETENTION_DAYS_MAX);
}

function corsOf(found: XmlElement): CorsRule[] {
  requireOnlyChildren(found, ["CorsRule"]);
  return found.children.map(corsRuleOf);
}

const CORS_ELEMENTS = [
  "AllowedOrigins",
  "AllowedMethods",
  "AllowedHeaders",
  "ExposedHeaders",
  "MaxAgeInSeconds",
];

function corsRuleOf(rule: XmlElement): CorsRule {
  requireOnlyChildren(rule, CORS_ELEMENTS);
  return {
    allowedOrigins: wordsOf(requireText(rule, "AllowedOrigins")),
    allowedMethods: wordsOf(requireText(rule, "AllowedMethods")),
    allowedHeaders: wordsOf(textOf(rule, "AllowedHeaders")),
    exposedHeaders: wordsOf(textOf(rule, "ExposedHeaders")),
    maxAgeSeconds: numberIn(rule, "MaxAgeInSeconds", 0, MAX_AGE_SECONDS_MAX),
  };
}

function wordsOf(list: string | null): string[] {
  return list === null ? [] : list.split(",").map((word) => word.trim());
}

function serviceVersionOf(text: string): string {
  if (!isProtocolVersion(text)) {
    throw invalidNode("DefaultServiceVersion", text, "A version is a date such as 2026-04-06.");
  }
  return text;
}

function metricsXml(metrics: Metrics): string {
  const apis =
    metrics.includeApis === null ? "" : element("IncludeAPIs", String(metrics.includeApis));
  return (
    element("Version", metrics.version) +
    element("Enabled", String(metrics.enabled)) +
    apis +
    retentionXml(metrics.retentionDays)
  );
}

function retentionXml(days: number | null): string {
  const terms = days === null ? "" : element("Days", String(days));
  return `<RetentionPolicy>${element("Enabled", String(days !== null))}${terms}</RetentionPolicy>`;
}

function corsRuleXml(rule: CorsRule): string {
  return (
    `<CorsRule>${element("AllowedMethods", rule.allowedMethods.join(","))}` +
    element("AllowedOrigins", rule.allowedOrigins.join(",")) +
    element("AllowedHeaders", rule.allowedHeaders.join(",")) +
    element("ExposedHeaders", rule.exposedHeaders.join(",")) +
    `${element("MaxAgeInSeconds", String(rule.maxAgeSeconds))}</CorsRule>`
  );
}
