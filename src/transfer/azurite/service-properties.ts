import { element, XML_DECLARATION } from "../../front/rest/xml/write-xml.ts";
import type { ServiceItem, ServiceKind } from "../item.ts";
import { type Document, listIn, objectIn, textIn } from "./fields.ts";

/** The settings of a service, of which Azurite has those that somebody set. */
export function serviceItem(service: ServiceKind, document: Document): ServiceItem {
  const version = textIn(document, "defaultServiceVersion");
  const xml = [
    ...parts(document, "logging", "Logging", [["deleteProperty", "Delete"], ...FLAGS]),
    ...parts(document, "hourMetrics", "HourMetrics", METRICS),
    ...parts(document, "minuteMetrics", "MinuteMetrics", METRICS),
    ...(document.cors === undefined ? [] : [`<Cors>${corsRules(document)}</Cors>`]),
    ...(service === "blob" && version !== undefined && version !== ""
      ? [element("DefaultServiceVersion", version)]
      : []),
    ...(service === "blob" && document.deleteRetentionPolicy !== undefined
      ? [
          `<DeleteRetentionPolicy>${retention(objectIn(document, "deleteRetentionPolicy"))}</DeleteRetentionPolicy>`,
        ]
      : []),
  ].join("");
  const root = "StorageServiceProperties";
  return { kind: "service", service, xml: `${XML_DECLARATION}<${root}>${xml}</${root}>` };
}

type Names = readonly (readonly [field: string, element: string])[];

const FLAGS: Names = [
  ["read", "Read"],
  ["write", "Write"],
];
const METRICS: Names = [
  ["enabled", "Enabled"],
  ["includeAPIs", "IncludeAPIs"],
];
const CORS: Names = [
  ["allowedOrigins", "AllowedOrigins"],
  ["allowedMethods", "AllowedMethods"],
  ["allowedHeaders", "AllowedHeaders"],
  ["exposedHeaders", "ExposedHeaders"],
  ["maxAgeInSeconds", "MaxAgeInSeconds"],
];

function parts(document: Document, field: string, name: string, names: Names): string[] {
  if (document[field] === undefined) return [];
  const found = objectIn(document, field);
  const version = element("Version", textIn(found, "version") ?? "1.0");
  const policy = objectIn(found, "retentionPolicy");
  const retained = `<RetentionPolicy>${retention(policy)}</RetentionPolicy>`;
  return [`<${name}>${version}${fields(found, names)}${retained}</${name}>`];
}

function fields(found: Document, names: Names): string {
  return names
    .filter(([field]) => found[field] !== undefined)
    .map(([field, name]) => element(name, `${found[field]}`))
    .join("");
}

function retention(policy: Document): string {
  const isEnabled = policy.enabled === true;
  return element("Enabled", `${isEnabled}`) + (isEnabled ? element("Days", `${policy.days}`) : "");
}

function corsRules(document: Document): string {
  return listIn(document, "cors")
    .map((rule) => `<CorsRule>${fields(rule, CORS)}</CorsRule>`)
    .join("");
}
