import type { Bytes } from "../../base/bytes.ts";
import { formatProperties, type Property, readProperties } from "../../base/edm.ts";
import { Fault, type FaultCode, refuse } from "../../base/fault.ts";
import { judgeByAccess, judgeByKeyRange } from "../../rules/access.ts";
import { type IfMatch, judgeByEtag } from "../../rules/entity-etag.ts";
import { judgeEntityKeys, judgeProperties } from "../../rules/entity-limits.ts";
import type { EntityPlace } from "../../rules/entity-plan.ts";
import { TABLE_NEEDS } from "../../rules/table-needs.ts";
import type { Transaction } from "../../store/store.ts";
import { guardOf } from "./admit.ts";
import type { EntitiesAsked } from "./context.ts";
import { deleteEntity, readEntity, type StoredEntity, type Table, writeEntity } from "./records.ts";

/** A write to one entity. */
export type EntityWrite = { readonly place: EntityPlace } & (
  | {
      readonly kind: "insertEntity" | "insertOrReplaceEntity" | "insertOrMergeEntity";
      readonly properties: readonly Property[];
    }
  | {
      readonly kind: "updateEntity" | "mergeEntity";
      readonly properties: readonly Property[];
      readonly ifMatch: IfMatch;
    }
  | { readonly kind: "deleteEntity"; readonly ifMatch: IfMatch }
);

/** The entity after a write; null if it was deleted. */
export type EntityWritten = StoredEntity | null;

/** A write with the results of all work that needs no stored entity. */
export interface PreparedWrite {
  readonly write: EntityWrite;
  /** The verdict on the keys and properties of the request. */
  readonly verdict: FaultCode | null;
  /** The properties of the request as they are stored. */
  readonly properties: StoredProperties;
}

interface StoredProperties {
  readonly text: string;
  /** The text in UTF-8. */
  readonly bytes: Bytes;
}

const NO_PROPERTIES = storedAs([]);

/** Works out, before the transaction, what would hold up all other requests inside of it. */
export function prepareWrite(write: EntityWrite): PreparedWrite {
  if (!("properties" in write)) return { write, verdict: null, properties: NO_PROPERTIES };
  const { partition, row } = write.place;
  const verdict =
    judgeEntityKeys(partition, row) ?? judgeProperties(partition, row, write.properties);
  return { write, verdict, properties: storedAs(verdict === null ? write.properties : []) };
}

function storedAs(properties: readonly Property[]): StoredProperties {
  const text = formatProperties(properties);
  return { text, bytes: Buffer.from(text) };
}

/** The order of these lines is the order of the answers a client can see. */
export function applyWrite(
  tx: Transaction,
  asked: EntitiesAsked,
  table: Table,
  prepared: PreparedWrite,
): EntityWritten {
  const { write, verdict } = prepared;
  const { place } = write;
  const { partition, row } = place;
  refuse(judgeByAccess(asked.access, TABLE_NEEDS[write.kind], guardOf(table), tx.now()));
  refuse(judgeByKeyRange(asked.keyRange, asked.at.table, partition, row));
  refuse(verdict);
  const old = readEntity(tx, table, place);
  requireOldEntity(write, old);
  if (write.kind === "deleteEntity") {
    deleteEntity(tx, table, place);
    return null;
  }
  const { text, bytes } = isMerge(write) && old !== null ? merged(write, old) : prepared.properties;
  const stamp = tx.stamp();
  writeEntity(tx, table, place, { stamp, properties: bytes });
  return { stamp, properties: text };
}

function requireOldEntity(write: EntityWrite, old: StoredEntity | null): void {
  if (write.kind === "insertEntity" && old !== null) throw new Fault("EntityAlreadyExists");
  if (!("ifMatch" in write)) return;
  if (old === null) throw new Fault("ResourceNotFound");
  refuse(judgeByEtag(old.stamp, write.ifMatch));
}

type Merge = Extract<EntityWrite, { readonly properties: readonly Property[] }>;

function isMerge(write: EntityWrite): write is Merge {
  return write.kind === "mergeEntity" || write.kind === "insertOrMergeEntity";
}

function merged({ place, properties }: Merge, old: StoredEntity): StoredProperties {
  const byName = new Map(readProperties(old.properties).map((one) => [one.name, one]));
  for (const property of properties) byName.set(property.name, property);
  const all = [...byName.values()];
  refuse(judgeProperties(place.partition, place.row, all));
  return storedAs(all);
}
