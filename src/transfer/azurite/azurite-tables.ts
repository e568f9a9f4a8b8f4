import { groupEntities, type TableEntity } from "../entity-groups.ts";
import type { Entity, Item } from "../item.ts";
import { type Document, objectIn, policiesIn, textIn } from "./fields.ts";
import { readLokiFile } from "./loki-file.ts";
import { serviceItem } from "./service-properties.ts";

const TYPE = "@odata.type";
const GUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The tables and entities of an account. */
export async function* azuriteTables(file: string, account: string): AsyncGenerator<Item> {
  const tables: string[] = [];
  for await (const { collection, document } of readLokiFile(file)) {
    if (collection === "$SERVICES_COLLECTION$" && document.accountName === account) {
      yield serviceItem("table", document);
    }
    if (collection !== "$TABLES_COLLECTION$" || document.account !== account) continue;
    const name = textIn(document, "table") ?? "";
    tables.push(name);
    yield { kind: "table", name, policies: policiesIn(document, "tableAcl") };
  }
  yield* groupEntities(entitiesOf(file, account, tables));
}

/** A collection has the entities of one table, so that those of a table come one after another. */
async function* entitiesOf(
  file: string,
  account: string,
  tables: readonly string[],
): AsyncGenerator<TableEntity> {
  for await (const { collection, document } of readLokiFile(file)) {
    const table = tables.find((one) => collection === `${account}$${one}`);
    if (table !== undefined) yield { table, entity: entityOf(document) };
  }
}

/** The properties without what the service adds to them. */
function entityOf(document: Document): Entity {
  const properties = objectIn(document, "properties");
  const { PartitionKey, RowKey } = document;
  const entity: Record<string, string | number | boolean> = {
    PartitionKey: `${PartitionKey}`,
    RowKey: `${RowKey}`,
  };
  for (const [name, value] of Object.entries(properties)) {
    const property = name.endsWith(TYPE) ? name.slice(0, -TYPE.length) : name;
    const isOwn = property === "PartitionKey" || property === "RowKey";
    if (name === `Timestamp${TYPE}`) continue;
    if (isOwn || name.startsWith("odata.") || value === null) continue;
    const isGuid = properties[`${name}${TYPE}`] === "Edm.Guid";
    entity[name] = isGuid ? guidOf(`${value}`) : (value as string | number | boolean);
  }
  return entity;
}

/** Newer versions of Azurite store the Base64 of a GUID's text. */
function guidOf(text: string): string {
  if (GUID.test(text)) return text;
  const decoded = Buffer.from(text, "base64").toString("latin1");
  return GUID.test(decoded) ? decoded : text;
}
