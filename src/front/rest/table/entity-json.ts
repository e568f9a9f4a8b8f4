import { isAnnotated, type Property, readProperties, spellProperty } from "../../../base/edm.ts";
import { isoOfStamp } from "../../../base/stamp.ts";
import type { EntityParts } from "../../../rules/entity-filter.ts";
import type { EntityPlace } from "../../../rules/entity-plan.ts";
import type { MetadataLevel } from "./metadata-level.ts";

export interface EntityJsonOptions {
  readonly level: MetadataLevel;
  /** The URL of the account, with a slash at its end. */
  readonly endpoint: string;
  readonly account: string;
  readonly table: string;
  /** The names of the properties that are asked for; null for all. */
  readonly select: ReadonlySet<string> | null;
}

/** Entities of one table, as JSON spells them at one level. */
export class EntityJson {
  readonly #options: EntityJsonOptions;

  constructor(options: EntityJsonOptions) {
    this.#options = options;
  }

  one(entity: EntityParts): string {
    return `{${this.#metadata("/@Element")}${this.#members(entity)}}`;
  }

  list(entities: readonly EntityParts[]): string {
    let text = `{${this.#metadata("")}"value":[`;
    let comma = "";
    for (const entity of entities) {
      text += `${comma}{${this.#members(entity)}}`;
      comma = ",";
    }
    return `${text}]}`;
  }

  #metadata(suffix: string): string {
    const { level, endpoint, table } = this.#options;
    if (level === "none") return "";
    return `"odata.metadata":${JSON.stringify(`${endpoint}$metadata#${table}${suffix}`)},`;
  }

  #members(entity: EntityParts): string {
    const { level, select } = this.#options;
    const time = isoOfStamp(entity.stamp);
    if (level !== "minimal" || select !== null) return this.#chosenMembers(entity, time);
    // Entities are stored in just this form.
    return (
      `"odata.etag":"${etagInJson(time)}","PartitionKey":${JSON.stringify(entity.partition)},` +
      `"RowKey":${JSON.stringify(entity.row)},"Timestamp":"${time}"${entity.properties}`
    );
  }

  #chosenMembers(entity: EntityParts, time: string): string {
    const { level, select } = this.#options;
    const spell = level === "none" ? plainProperty : spellProperty;
    const has = (name: string) => select === null || select.has(name);
    let text = "";
    if (level === "full") text += `,${this.#identity(entity)}`;
    if (level !== "none") text += `,"odata.etag":"${etagInJson(time)}"`;
    if (has("PartitionKey")) text += `,"PartitionKey":${JSON.stringify(entity.partition)}`;
    if (has("RowKey")) text += `,"RowKey":${JSON.stringify(entity.row)}`;
    if (has("Timestamp")) {
      if (level === "full") text += ',"Timestamp@odata.type":"Edm.DateTime"';
      text += `,"Timestamp":"${time}"`;
    }
    for (const property of readProperties(entity.properties)) {
      if (has(property.name)) text += spell(property);
    }
    return text.slice(1);
  }

  #identity(entity: EntityParts): string {
    const { endpoint, account, table } = this.#options;
    const link = entityPath(table, entity);
    return (
      `"odata.type":${JSON.stringify(`${account}.${table}`)},` +
      `"odata.id":${JSON.stringify(endpoint + link)},"odata.editLink":${JSON.stringify(link)}`
    );
  }
}

/** `Table(PartitionKey='p',RowKey='r')`, percent-encoded. */
export function entityPath(table: string, { partition, row }: EntityPlace): string {
  return `${table}(PartitionKey='${inUrl(partition)}',RowKey='${inUrl(row)}')`;
}

function inUrl(key: string): string {
  return encodeURIComponent(key.replaceAll("'", "''"));
}

function plainProperty(property: Property): string {
  return isAnnotated(property) ? `,"${property.name}":${property.json}` : spellProperty(property);
}

/** As `etagOfStamp` spells it, with the quotes escaped. */
function etagInJson(time: string): string {
  const [hour, minute, rest] = [time.slice(0, 13), time.slice(14, 16), time.slice(17)];
  return `W/\\"datetime'${hour}%3A${minute}%3A${rest}'\\"`;
}
