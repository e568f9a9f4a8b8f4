import type { Bytes } from "../../base/bytes.ts";
import { bytes, format, listOf, type RecordOf, text, u64 } from "../../base/fields.ts";
import { KEY_BYTES_MAX, KeyReader, key, keyAfter, ordinalPart, SPACE } from "../../base/keys.ts";
import { TABLE_NAME_CHARS_MAX } from "../../base/limits.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { EntityPlace } from "../../rules/entity-plan.ts";
import type { Need } from "../../store/acceleration.ts";
import type { Transaction, View } from "../../store/store.ts";
import { storedPolicy } from "../shared/policy-field.ts";
import type { TableAddress } from "./context.ts";

const tableShape = {
  /** The keys of entities begin with this id, so that deleting a table is one record. */
  id: u64,
  /** In the case in which it was created; the key has it in lower case. */
  name: text,
  policies: listOf(storedPolicy),
};

/** A note for the sweeper, which finds the table's entities by the id in the key. */
const doomedTableShape = {};

const entityShape = {
  /** Of the last write: timestamp and ETag. */
  stamp: u64,
  /** As `formatProperties` wrote it. */
  properties: text,
};

/** Has the same format: the writer passes the text in UTF-8. */
const writtenEntityShape = { stamp: u64, properties: bytes };

export type Table = Readonly<RecordOf<typeof tableShape>>;
export type StoredEntity = Readonly<RecordOf<typeof entityShape>>;
export type WrittenEntity = Readonly<RecordOf<typeof writtenEntityShape>>;

const tableFormat = format(1, tableShape);
const doomedTableFormat = format(1, doomedTableShape);
const entityFormat = format(1, entityShape);
const writtenEntityFormat = format(1, writtenEntityShape);
/** Reads only the first field of an entity. */
const entityStampFormat = format(1, { stamp: u64 });

export function tableKey({ account, table }: TableAddress): Bytes {
  return key(SPACE.table, account, table.toLowerCase());
}

export function readTable(view: View, at: TableAddress): Table | null {
  // No table has a name this long, so the store is not asked.
  if (at.table.length > TABLE_NAME_CHARS_MAX) return null;
  const found = view.get(tableKey(at));
  return found === undefined ? null : tableFormat.decode(found);
}

export function decodeTable(found: Bytes): Table {
  return tableFormat.decode(found);
}

export function writeTable(tx: Transaction, at: TableAddress, value: Table): void {
  tx.set(tableKey(at), tableFormat.encode(value));
}

/** Frees the table's name, and leaves its entities to the sweeper. */
export function deleteTable(tx: Transaction, at: TableAddress, { id }: Table): void {
  tx.delete(tableKey(at));
  tx.set(key(SPACE.doomedTable, id), doomedTableFormat.encode({}));
}

function entityKey({ id }: Table, { partition, row }: EntityPlace): Bytes {
  return key(SPACE.entity, id, ordinalPart(partition), ordinalPart(row));
}

/** Whether an entity can have this key: requested ones may be longer. */
function isStorable(at: Bytes): boolean {
  return at.length <= KEY_BYTES_MAX;
}

/**
 * The key of a place without regard to whether it has an entity. Requested keys may be longer than
 * any stored one: such a place is cut, because everything after it comes after its first part, too.
 */
export function boundKey(table: Table, place: EntityPlace): Bytes {
  const bound = entityKey(table, place);
  return isStorable(bound) ? bound : keyAfter(bound.subarray(0, KEY_BYTES_MAX));
}

/** After all entities of the table. */
export function endKey({ id }: Table): Bytes {
  return keyAfter(key(SPACE.entity, id));
}

export function placeOfKey(found: Bytes): EntityPlace {
  const parts = new KeyReader(found);
  parts.u64();
  return { partition: parts.ordinal(), row: parts.ordinal() };
}

export function readEntity(view: View, table: Table, place: EntityPlace): StoredEntity | null {
  const found = readEntityRecord(view, table, place);
  return found === null ? null : entityFormat.decode(found);
}

/** The encoded entity, for callers that may need only its length or its stamp. */
export function readEntityRecord(view: View, table: Table, place: EntityPlace): Bytes | null {
  const at = entityKey(table, place);
  return isStorable(at) ? (view.get(at) ?? null) : null;
}

/** The stamp of an encoded entity; its properties would take much longer to decode. */
export function stampOfEntity(found: Bytes): Stamp {
  return entityStampFormat.decode(found).stamp;
}

/** What a body reads to find the entities at these places. */
export function entityNeeds(table: Table, places: readonly EntityPlace[]): Need[] {
  return places.map((place) => entityKey(table, place)).filter(isStorable);
}

export function decodeEntity(found: Bytes): StoredEntity {
  return entityFormat.decode(found);
}

export function writeEntity(
  tx: Transaction,
  table: Table,
  place: EntityPlace,
  value: WrittenEntity,
): void {
  tx.set(entityKey(table, place), writtenEntityFormat.encode(value));
}

export function deleteEntity(tx: Transaction, table: Table, place: EntityPlace): void {
  tx.delete(entityKey(table, place));
}
