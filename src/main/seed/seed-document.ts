import type { Property } from "../../base/edm.ts";
import { Fault } from "../../base/fault.ts";
import { SHARE_QUOTA_GIB_MAX } from "../../base/limits.ts";
import { isProtocolVersion } from "../../front/rest/http/protocol-version.ts";
import { metadataOf as metadataIn } from "../../front/rest/request-headers.ts";
import { entityOf, requirePlace } from "../../front/rest/table/entity-body.ts";
import { readFlatObject } from "../../front/rest/table/flat-json.ts";
import type { PublicAccess, StoredPolicy } from "../../rules/access.ts";
import type { EntityPlace } from "../../rules/entity-plan.ts";
import type { ServiceProperties } from "../../service/account/records.ts";
import { ConfigText, type Fields } from "../config-fields.ts";
import { parseJson } from "../json-text.ts";
import { loadYaml } from "./yaml-text.ts";

/** Where a seed comes from. */
export interface SeedSource {
  /** The file, for messages. Names that end with .json are JSON, others YAML. */
  readonly name: string;
  readonly text: string;
  /** Folders to load are found from here. */
  readonly folder: string;
}

/** What an account shall have. What is null or missing stays as it is. */
export interface AccountSeed {
  /** Null for the first account of the server. */
  readonly account: string | null;
  readonly fields: Fields;
  readonly services: readonly ServiceSeed[];
  readonly containers: readonly ContainerSeed[];
  readonly queues: readonly QueueSeed[];
  readonly tables: readonly TableSeed[];
  readonly shares: readonly ShareSeed[];
}

const SERVICES = ["blob", "queue", "table", "file"] as const;

export interface ServiceSeed {
  readonly fields: Fields;
  readonly service: (typeof SERVICES)[number];
  readonly changes: Partial<ServiceProperties>;
  readonly deleteRetentionDays: number | null;
}

interface PlaceSeed {
  readonly fields: Fields;
  readonly name: string;
  readonly policies: readonly StoredPolicy[] | null;
}

type Metadata = readonly (readonly [name: string, value: string])[];

export interface ContainerSeed extends PlaceSeed {
  readonly metadata: Metadata | null;
  readonly publicAccess: PublicAccess | null;
  /** A folder whose files become blobs. */
  readonly load: string | null;
}

export interface QueueSeed extends PlaceSeed {
  readonly metadata: Metadata | null;
  readonly messages: readonly MessageSeed[];
}

export interface MessageSeed {
  readonly text: string;
  readonly hiddenMs: number;
  /** Null if it never expires. */
  readonly lifeMs: number | null;
}

export interface TableSeed extends PlaceSeed {
  readonly entities: readonly EntitySeed[];
}

export interface EntitySeed {
  readonly fields: Fields;
  readonly place: EntityPlace;
  readonly properties: readonly Property[];
}

export interface ShareSeed extends PlaceSeed {
  readonly metadata: Metadata | null;
  readonly quotaGib: number | null;
  readonly load: string | null;
}

const SECONDS_MAX = 100 * 365 * 24 * 3_600;
const HIDDEN_SECONDS_MAX = 7 * 24 * 3_600;
const LIFE_MS_DEFAULT = HIDDEN_SECONDS_MAX * 1_000;
const DAYS_MAX = 365;
const AGE_MAX = 2 ** 31 - 1;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\x00-\x1f\x7f]|\p{Surrogate}/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NOT_IN_XML = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/u;
/** All messages of a queue are put in one transaction, together with the queue. */
const MESSAGES_MAX = 1_000;

/** Reads and checks a seed as a whole. Throws a `UsageError` with line and column. */
export async function readSeed({ name, text }: SeedSource): Promise<AccountSeed[]> {
  const isJson = name.endsWith(".json");
  const source = isJson
    ? new ConfigText(name, text, parseJson)
    : new ConfigText(name, text, await loadYaml(), "YAML");
  const fields = source.fields();
  const others = fields.mayHave("accounts") ? fields.objects("accounts") : [];
  const seeds = [await accountOf(fields, null)];
  for (const other of others) seeds.push(await accountOf(other, other.text("name")));
  return seeds;
}

async function accountOf(fields: Fields, account: string | null): Promise<AccountSeed> {
  const tables: TableSeed[] = [];
  for (const one of listed(fields, "tables")) tables.push(await tableOf(one));
  const seed = {
    account,
    fields,
    services: servicesOf(fields),
    containers: listed(fields, "containers").map(containerOf),
    queues: listed(fields, "queues").map(queueOf),
    tables,
    shares: listed(fields, "shares").map(shareOf),
  };
  fields.requireNoOthers();
  return seed;
}

function listed(fields: Fields, name: string): Fields[] {
  return fields.mayHave(name) ? fields.objects(name) : [];
}

function servicesOf(fields: Fields): ServiceSeed[] {
  if (!fields.mayHave("services")) return [];
  const services = fields.object("services");
  const seeds = SERVICES.filter((service) => services.mayHave(service)).map((service) =>
    serviceOf(service, services.object(service)),
  );
  services.requireNoOthers();
  return seeds;
}

function serviceOf(service: ServiceSeed["service"], fields: Fields): ServiceSeed {
  const changes = {
    ...(fields.mayHave("cors") ? { cors: fields.objects("cors").map(corsRuleOf) } : {}),
    ...(fields.mayHave("defaultServiceVersion")
      ? { defaultServiceVersion: versionOf(fields) }
      : {}),
  };
  const hasRetention = service === "blob" && fields.mayHave("deleteRetentionDays");
  const deleteRetentionDays = hasRetention
    ? fields.number("deleteRetentionDays", 1, DAYS_MAX)
    : null;
  fields.requireNoOthers();
  return { fields, service, changes, deleteRetentionDays };
}

function corsRuleOf(fields: Fields): ServiceProperties["cors"][number] {
  const texts = (name: string) => (fields.mayHave(name) ? fields.texts(name) : []);
  const rule = {
    allowedOrigins: fields.texts("allowedOrigins"),
    allowedMethods: fields.texts("allowedMethods"),
    allowedHeaders: texts("allowedHeaders"),
    exposedHeaders: texts("exposedHeaders"),
    maxAgeSeconds: fields.mayHave("maxAgeSeconds") ? fields.number("maxAgeSeconds", 0, AGE_MAX) : 0,
  };
  fields.requireNoOthers();
  return rule;
}

function containerOf(fields: Fields): ContainerSeed {
  const seed = {
    ...placeOf(fields),
    metadata: metadataOf(fields),
    publicAccess: publicAccessOf(fields),
    load: textOf(fields, "load"),
  };
  fields.requireNoOthers();
  return seed;
}

function publicAccessOf(fields: Fields): PublicAccess | null {
  const said = textOf(fields, "publicAccess");
  const known = (["none", "blob", "container"] as const).find((one) => one === said);
  if (known !== undefined || said === null) return known ?? null;
  throw fields.wrong(["publicAccess"], "must be none, blob or container.");
}

function queueOf(fields: Fields): QueueSeed {
  const messages = listed(fields, "messages").map(messageOf);
  if (messages.length > MESSAGES_MAX) {
    throw fields.wrong(["messages"], `must be ${MESSAGES_MAX} at most.`);
  }
  const seed = { ...placeOf(fields), metadata: metadataOf(fields), messages };
  fields.requireNoOthers();
  return seed;
}

function messageOf(fields: Fields): MessageSeed {
  const ms = (name: string, max: number) =>
    fields.mayHave(name) ? 1_000 * fields.number(name, -1, max) : null;
  const lifeMs = ms("lifeSeconds", SECONDS_MAX) ?? LIFE_MS_DEFAULT;
  const message = {
    text: xmlTextOf(fields, "text"),
    hiddenMs: Math.max(ms("hiddenSeconds", HIDDEN_SECONDS_MAX) ?? 0, 0),
    lifeMs: lifeMs < 0 ? null : lifeMs,
  };
  fields.requireNoOthers();
  return message;
}

async function tableOf(fields: Fields): Promise<TableSeed> {
  const entities: EntitySeed[] = [];
  for (const one of listed(fields, "entities")) entities.push(await entitySeedOf(one));
  const seed = { ...placeOf(fields), entities };
  fields.requireNoOthers();
  return seed;
}

/** An entity is written as clients send it in JSON, with type annotations where types need them. */
async function entitySeedOf(fields: Fields): Promise<EntitySeed> {
  try {
    const body = await entityOf(readFlatObject(Buffer.from(fields.json())));
    return { fields, place: requirePlace(body), properties: body.properties };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw fields.problem([], `it is no entity: ${reasonOf(error)}`);
  }
}

function shareOf(fields: Fields): ShareSeed {
  const quotaGib = fields.mayHave("quotaGib")
    ? fields.number("quotaGib", 1, SHARE_QUOTA_GIB_MAX)
    : null;
  const metadata = metadataOf(fields);
  const seed = { ...placeOf(fields), metadata, quotaGib, load: textOf(fields, "load") };
  fields.requireNoOthers();
  return seed;
}

function placeOf(fields: Fields): PlaceSeed {
  const hasPolicies = fields.mayHave("policies");
  const policies = hasPolicies ? fields.objects("policies").map(policyOf) : null;
  return { fields, name: fields.text("name"), policies };
}

function policyOf(fields: Fields): StoredPolicy {
  const policy = {
    id: xmlTextOf(fields, "id"),
    startMs: timeOf(fields, "start"),
    expiryMs: timeOf(fields, "expiry"),
    letters: textOf(fields, "permissions"),
  };
  fields.requireNoOthers();
  return policy;
}

function timeOf(fields: Fields, name: string): number | null {
  const said = textOf(fields, name);
  const ms = said === null ? null : Date.parse(said);
  if (ms === null || (!Number.isNaN(ms) && /^\d{4}-\d\d-\d\d/.test(said ?? ""))) return ms;
  throw fields.wrong([name], "must be a time like 2026-12-31T23:59:59Z.");
}

/** Metadata as the services store it: as the headers of a request that sets it would have it. */
function metadataOf(fields: Fields): Metadata | null {
  if (!fields.mayHave("metadata")) return null;
  const metadata = fields.object("metadata");
  const raw: string[] = [];
  let found: Metadata = [];
  for (const name of Object.keys(metadata.all())) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw metadata.problem([name], "a name of metadata has letters, digits and _ only.");
    }
    const value = metadata.text(name);
    if (CONTROL.test(value)) throw metadata.wrong([name], "must be one line of text.");
    raw.push(`x-ms-meta-${name}`, Buffer.from(value).toString("latin1"));
    try {
      found = metadataIn({ raw });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      throw metadata.problem([name], `the service refuses it: ${reasonOf(error)}`);
    }
  }
  return found;
}

function versionOf(fields: Fields): string {
  const version = fields.text("defaultServiceVersion");
  if (isProtocolVersion(version)) return version;
  throw fields.wrong(["defaultServiceVersion"], "must be a version: a date like 2026-04-06.");
}

/** A text of answers in XML, which cannot hold all characters. */
function xmlTextOf(fields: Fields, name: string): string {
  const text = fields.text(name);
  if (!NOT_IN_XML.test(text)) return text;
  throw fields.wrong(
    [name],
    "has a character that the service cannot send, such as a control character.",
  );
}

function textOf(fields: Fields, name: string): string | null {
  return fields.mayHave(name) ? fields.text(name) : null;
}

/** What a service says about a refusal. */
export function reasonOf({ code, detail, sentence }: Fault): string {
  const more = sentence ?? Object.values(detail).join(" ");
  return more === "" ? `${code}.` : `${code}: ${more}`;
}
