import type { BodyBudget } from "../../base/body-budget.ts";
import type { Bytes } from "../../base/bytes.ts";
import { formatProperties, type Property, readProperties } from "../../base/edm.ts";
import { Fault, type FaultCode, refuse } from "../../base/fault.ts";
import { BATCH_MERGED_BYTES_MAX } from "../../base/limits.ts";
import type { Stamp } from "../../base/stamp.ts";
import { judgeByAccess, judgeByKeyRange } from "../../rules/access.ts";
import { type IfMatch, judgeByEtag } from "../../rules/entity-etag.ts";
import { judgeEntityKeys, judgeProperties } from "../../rules/entity-limits.ts";
import type { EntityPlace } from "../../rules/entity-plan.ts";
import { TABLE_NEEDS } from "../../rules/table-needs.ts";
import { isDamageError, type Transaction } from "../../store/store.ts";
import { type VersionPast, versionAsOf } from "../shared/past.ts";
import { guardOf } from "./admit.ts";
import type { EntitiesAsked } from "./context.ts";
import {
  decodeEntity,
  deleteEntity,
  readEntityRecord,
  stampOfEntity,
  type Table,
  writeEntity,
} from "./records.ts";

/** A write to one entity. */
export type EntityWrite = {
  readonly place: EntityPlace;
  /** What an import knows of the entity. */
  readonly past?: VersionPast | null;
} & (
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
export type EntityWritten = {
  readonly stamp: Stamp;
  /** As they are stored; null if they were merged. */
  readonly properties: string | null;
} | null;

/** A write with the results of all work that needs no stored entity. */
export interface PreparedWrite {
  readonly write: EntityWrite;
  /** The verdict on the keys and properties of the request. */
  readonly verdict: FaultCode | null;
  /** The properties of the request as they are stored. */
  readonly properties: StoredProperties;
  /** The result of a merge, if it was worked out before the transaction. */
  readonly merged?: MergedEntity;
}

interface StoredProperties {
  readonly text: string;
  /** The text in UTF-8. */
  readonly bytes: Bytes;
}

/** An entity with the properties that were merged into it. */
export interface MergedEntity {
  /** The stamp of the entity before. If another write has changed it since, this is outdated. */
  readonly onto: Stamp;
  readonly verdict: FaultCode | null;
  /** As they are stored. */
  readonly bytes: Bytes;
}

const MERGES_RULE = `The entities to merge into take more than ${BATCH_MERGED_BYTES_MAX} bytes.`;

/** Thrown if merges would hold up all other requests: the caller works them out beforehand. */
export class LongMerges extends Error {}

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

/**
 * The order of these lines is the order of the answers a client can see. Merges count what they
 * decode in `budget`, unless it is null, and throw `LongMerges` once it is spent.
 */
export function applyWrite(
  tx: Transaction,
  asked: EntitiesAsked,
  table: Table,
  prepared: PreparedWrite,
  budget: BodyBudget | null,
): EntityWritten {
  const { write, verdict } = prepared;
  const { place } = write;
  const { partition, row } = place;
  refuse(judgeByAccess(asked.access, TABLE_NEEDS[write.kind], guardOf(table), tx.now()));
  refuse(judgeByKeyRange(asked.keyRange, asked.at.table, partition, row));
  refuse(verdict);
  const old = readOld(tx, table, write);
  requireOldEntity(write, old);
  if (write.kind === "deleteEntity") {
    deleteEntity(tx, table, place);
    return null;
  }
  if (isMerge(write) && old !== null && old.record !== null) {
    const properties = mergedWith(prepared, write, old.record, budget);
    const stamp = tx.stamp();
    writeEntity(tx, table, place, { stamp, properties });
    return { stamp, properties: null };
  }
  const { text, bytes } = prepared.properties;
  const stamp = stampAsOf(tx, asked, write);
  writeEntity(tx, table, place, { stamp, properties: bytes });
  return { stamp, properties: text };
}

function stampAsOf(tx: Transaction, { access }: EntitiesAsked, { past }: EntityWrite): Stamp {
  const stamp = tx.stamp();
  if (past == null) return stamp;
  return versionAsOf(tx, { access, past }, { etag: stamp, modifiedMs: tx.now() }).etag;
}

/** An entity before a write. */
interface OldEntity {
  readonly stamp: Stamp;
  /** Null if it is damaged. */
  readonly record: Bytes | null;
}

/** Stands for a damaged entity: it exists, and no client knows its ETag. */
const DAMAGED: OldEntity = { stamp: 0n, record: null };

/** Reads the entity; writes that need nothing of it succeed although its record is damaged. */
function readOld(tx: Transaction, table: Table, write: EntityWrite): OldEntity | null {
  try {
    const record = readEntityRecord(tx, table, write.place);
    return record === null ? null : { stamp: stampOfEntity(record), record };
  } catch (error) {
    if (isMerge(write) || !isDamageError(error)) throw error;
    return DAMAGED;
  }
}

function requireOldEntity(write: EntityWrite, old: OldEntity | null): void {
  if (write.kind === "insertEntity" && old !== null) throw new Fault("EntityAlreadyExists");
  if (!("ifMatch" in write)) return;
  if (old === null) throw new Fault("ResourceNotFound");
  refuse(judgeByEtag(old.stamp, write.ifMatch));
}

export type Merge = Extract<EntityWrite, { readonly properties: readonly Property[] }>;

export function isMerge(write: EntityWrite): write is Merge {
  return write.kind === "mergeEntity" || write.kind === "insertOrMergeEntity";
}

/** The properties after a merge, worked out here unless that was done before. */
function mergedWith(
  { merged }: PreparedWrite,
  write: Merge,
  old: Bytes,
  budget: BodyBudget | null,
): Bytes {
  const isCurrent = merged?.onto === stampOfEntity(old);
  if (!isCurrent) budget?.spend(old.length);
  if (budget?.isSpent) throw new LongMerges();
  const { verdict, bytes } = isCurrent ? merged : merge(write, old);
  refuse(verdict, verdict === "RequestBodyTooLarge" ? MERGES_RULE : undefined);
  return bytes;
}

/** Merges the properties of a request into an encoded entity. */
export function merge({ place, properties }: Merge, old: Bytes): MergedEntity {
  const { stamp: onto, properties: before } = decodeEntity(old);
  const byName = new Map(readProperties(before).map((one) => [one.name, one]));
  for (const property of properties) byName.set(property.name, property);
  const all = [...byName.values()];
  const verdict = judgeProperties(place.partition, place.row, all);
  return { onto, verdict, bytes: verdict === null ? storedAs(all).bytes : NO_PROPERTIES.bytes };
}
