import { formatProperties, type Property, readProperties } from "../../base/edm.ts";
import { Fault, refuse } from "../../base/fault.ts";
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

/** The order of these lines is the order of the answers a client can see. */
export function applyWrite(
  tx: Transaction,
  asked: EntitiesAsked,
  table: Table,
  write: EntityWrite,
): EntityWritten {
  const { place } = write;
  const { partition, row } = place;
  refuse(judgeByAccess(asked.access, TABLE_NEEDS[write.kind], guardOf(table), tx.now()));
  refuse(judgeByKeyRange(asked.keyRange, asked.at.table, partition, row));
  if ("properties" in write) {
    refuse(judgeEntityKeys(partition, row));
    refuse(judgeProperties(partition, row, write.properties));
  }
  const old = readEntity(tx, table, place);
  requireOldEntity(write, old);
  if (write.kind === "deleteEntity") {
    deleteEntity(tx, table, place);
    return null;
  }
  const properties = nextProperties(write, old);
  const written = { stamp: tx.stamp(), properties };
  writeEntity(tx, table, place, written);
  return written;
}

function requireOldEntity(write: EntityWrite, old: StoredEntity | null): void {
  if (write.kind === "insertEntity" && old !== null) throw new Fault("EntityAlreadyExists");
  if (!("ifMatch" in write)) return;
  if (old === null) throw new Fault("ResourceNotFound");
  refuse(judgeByEtag(old.stamp, write.ifMatch));
}

function nextProperties(
  { kind, place, properties }: Exclude<EntityWrite, { kind: "deleteEntity" }>,
  old: StoredEntity | null,
): string {
  const isMerge = kind === "mergeEntity" || kind === "insertOrMergeEntity";
  if (!isMerge || old === null) return formatProperties(properties);
  const merged = new Map(readProperties(old.properties).map((one) => [one.name, one]));
  for (const property of properties) merged.set(property.name, property);
  const all = [...merged.values()];
  refuse(judgeProperties(place.partition, place.row, all));
  return formatProperties(all);
}
