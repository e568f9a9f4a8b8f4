import type { Bytes } from "../../../base/bytes.ts";
import { formatProperty, isAnnotated, type Property, readProperties } from "../../../base/edm.ts";
import { PacedBytes } from "../../../base/fair-queue.ts";
import { MIB } from "../../../base/limits.ts";
import { isoOfStamp } from "../../../base/stamp.ts";
import type { EntityParts } from "../../../rules/entity-filter.ts";
import type { EntityPlace } from "../../../rules/entity-plan.ts";
import type { PageRows } from "../../../service/table/entity-page.ts";
import type { ResponseBody } from "../http/exchange.ts";
import { bodyOfPieces } from "../pieces-body.ts";
import type { MetadataLevel } from "./metadata-level.ts";

export interface EntityJsonOptions {
  readonly level: MetadataLevel;
  /** The URL of the account, with a trailing slash. */
  readonly endpoint: string;
  readonly account: string;
  readonly table: string;
  /** The names of the selected properties; null for all. */
  readonly select: ReadonlySet<string> | null;
}

/** Renders the entities of one table as JSON, at one metadata level. */
export class EntityJson {
  readonly #options: EntityJsonOptions;

  constructor(options: EntityJsonOptions) {
    this.#options = options;
  }

  one(entity: EntityParts): string {
    return `{${this.#metadata("/@Element")}${this.#members(entity)}}`;
  }

  async list(found: readonly PageRows[]): Promise<ResponseBody> {
    const pieces = [Buffer.from(`{${this.#metadata("")}"value":[`)];
    const paced = new PacedBytes();
    for (const rows of found) await this.#addRows(rows, pieces, paced);
    // Each entity is followed by a comma, which the last one must not have.
    const last = pieces.length > 1 ? pieces.pop() : undefined;
    if (last !== undefined) pieces.push(last.subarray(0, -1));
    pieces.push(Buffer.from("]}"));
    return bodyOfPieces(pieces);
  }

  async #addRows({ page, rows }: PageRows, pieces: Bytes[], paced: PacedBytes): Promise<void> {
    const isStoredForm = this.#options.level === "minimal" && this.#options.select === null;
    const isWhole = rows.length >= page.size * WHOLE_PAGE_SHARE && page.bytes <= WHOLE_PAGE_BYTES;
    if (!isStoredForm || !isWhole) {
      for (const row of rows) {
        // The cost is that of the whole entity, even if few properties are selected.
        const wait = paced.next(page.bytesOf(row));
        if (wait !== undefined) await wait;
        pieces.push(Buffer.from(`{${this.#members(page.entity(row))}},`));
      }
      return;
    }
    const wait = paced.next(page.bytes);
    if (wait !== undefined) await wait;
    const { bytes, starts } = page.text(renderInList);
    for (let at = 0; at < rows.length; ) {
      const first = rows[at] as number;
      let end = first + 1;
      while (rows[++at] === end) end++;
      pieces.push(bytes.subarray(starts[first], starts[end]));
    }
  }

  #metadata(suffix: string): string {
    const { level, endpoint, table } = this.#options;
    if (level === "none") return "";
    return `"odata.metadata":${JSON.stringify(`${endpoint}$metadata#${table}${suffix}`)},`;
  }

  #members(entity: EntityParts): string {
    const { level, select } = this.#options;
    if (level === "minimal" && select === null) return membersAsStored(entity);
    return this.#chosenMembers(entity);
  }

  #chosenMembers(entity: EntityParts): string {
    const { level, select } = this.#options;
    const time = isoOfStamp(entity.stamp);
    const format = level === "none" ? plainProperty : formatProperty;
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
      if (has(property.name)) text += format(property);
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

/** From this share of its entities on, a page is rendered as a whole and cached. */
const WHOLE_PAGE_SHARE = 0.5;
/** A larger page is rendered in several slices. */
const WHOLE_PAGE_BYTES = MIB;

function renderInList(entity: EntityParts): string {
  return `{${membersAsStored(entity)}},`;
}

/** Minimal metadata and all properties: entities are stored in just this form. */
function membersAsStored({ partition, row, stamp, properties }: EntityParts): string {
  const time = isoOfStamp(stamp);
  return (
    `"odata.etag":"${etagInJson(time)}","PartitionKey":${JSON.stringify(partition)},` +
    `"RowKey":${JSON.stringify(row)},"Timestamp":"${time}"${properties}`
  );
}

/** `Table(PartitionKey='p',RowKey='r')`, percent-encoded. */
export function entityPath(table: string, { partition, row }: EntityPlace): string {
  return `${table}(PartitionKey='${inUrl(partition)}',RowKey='${inUrl(row)}')`;
}

function inUrl(key: string): string {
  return encodeURIComponent(key.replaceAll("'", "''"));
}

function plainProperty(property: Property): string {
  return isAnnotated(property) ? `,"${property.name}":${property.json}` : formatProperty(property);
}

/** Like `etagOfStamp`, with the quotes escaped. */
function etagInJson(time: string): string {
  const [hour, minute, rest] = [time.slice(0, 13), time.slice(14, 16), time.slice(17)];
  return `W/\\"datetime'${hour}%3A${minute}%3A${rest}'\\"`;
}
