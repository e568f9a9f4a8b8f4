import {
  count,
  flag,
  format,
  listOf,
  orNull,
  type RecordOf,
  struct,
  text,
} from "../../base/fields.ts";
import { key, SPACE } from "../../base/keys.ts";
import type { Transaction, View } from "../../store/store.ts";
import type { ServiceAddress } from "./context.ts";

/** Number of days; null for no automatic removal. */
const retentionDays = orNull(count);

const logging = struct({
  version: text,
  read: flag,
  write: flag,
  delete: flag,
  retentionDays,
});

const metrics = struct({
  version: text,
  enabled: flag,
  includeApis: orNull(flag),
  retentionDays,
});

const corsRule = struct({
  allowedOrigins: listOf(text),
  allowedMethods: listOf(text),
  allowedHeaders: listOf(text),
  exposedHeaders: listOf(text),
  maxAgeSeconds: count,
});

const propertiesShape = {
  logging,
  hourMetrics: metrics,
  minuteMetrics: metrics,
  cors: listOf(corsRule),
  defaultServiceVersion: orNull(text),
};

export type ServiceProperties = Readonly<RecordOf<typeof propertiesShape>>;
export type Logging = Readonly<ServiceProperties["logging"]>;
export type Metrics = Readonly<ServiceProperties["hourMetrics"]>;

const propertiesFormat = format(1, propertiesShape);

/** The properties of an account on which none were set. */
export const DEFAULT_PROPERTIES: ServiceProperties = {
  logging: { version: "1.0", read: false, write: false, delete: false, retentionDays: null },
  hourMetrics: { version: "1.0", enabled: true, includeApis: true, retentionDays: 7 },
  minuteMetrics: { version: "1.0", enabled: false, includeApis: null, retentionDays: null },
  cors: [],
  defaultServiceVersion: null,
};

function propertiesKey(at: ServiceAddress) {
  return key(SPACE.serviceProperties, at.account, at.service);
}

export function readProperties(view: View, at: ServiceAddress): ServiceProperties {
  const found = view.get(propertiesKey(at));
  return found === undefined ? DEFAULT_PROPERTIES : propertiesFormat.decode(found);
}

export function writeProperties(
  tx: Transaction,
  at: ServiceAddress,
  value: ServiceProperties,
): void {
  tx.set(propertiesKey(at), propertiesFormat.encode(value));
}
