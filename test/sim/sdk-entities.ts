import type { TableClient, TableEntityResult, TransactionAction } from "@azure/data-tables";
import type { Entity, EntityAnswer, EntityAsked, EntityWrite } from "./entity-words.ts";

/** Runs the checker's operations with the official client. */
export async function askEntities(
  table: TableClient,
  partition: string,
  asked: EntityAsked,
  abortSignal: AbortSignal,
): Promise<EntityAnswer> {
  const signal = { abortSignal };
  switch (asked.operation) {
    case "get": {
      const found = await table.getEntity<Stored>(partition, asked.row, signal);
      return { refused: null, etags: [], found: { [asked.row]: entityOf(found) } };
    }
    case "query": {
      const found: Record<string, Entity> = {};
      const filter = `PartitionKey eq '${partition}'`;
      const pages = table.listEntities<Stored>({ queryOptions: { filter }, ...signal }).byPage();
      for await (const page of pages) {
        for (const entity of page) found[entity.rowKey as string] = entityOf(entity);
      }
      return { refused: null, etags: [], found };
    }
    case "write": {
      const etag = await write(table, partition, asked.write, signal);
      return { refused: null, etags: [etag], found: {} };
    }
    case "batch": {
      const actions = asked.writes.map((one) => actionOf(partition, one));
      const { subResponses } = await table.submitTransaction(actions, signal);
      return { refused: null, etags: subResponses.map(({ etag }) => etag ?? null), found: {} };
    }
  }
}

interface Stored {
  readonly last: string;
  readonly a?: string;
  readonly b?: string;
}

function entityOf({ etag, last, a, b }: TableEntityResult<Stored>): Entity {
  return { etag, last, a: a ?? null, b: b ?? null };
}

function stored(partition: string, { row, name, property }: EntityWrite) {
  return { partitionKey: partition, rowKey: row, last: name, [property]: name };
}

async function write(
  table: TableClient,
  partition: string,
  asked: EntityWrite,
  signal: { readonly abortSignal: AbortSignal },
): Promise<string | null> {
  const entity = stored(partition, asked);
  const options = { etag: asked.ifMatch ?? "*", ...signal };
  switch (asked.kind) {
    case "insert":
      return (await table.createEntity(entity, signal)).etag ?? null;
    case "update":
      return (await table.updateEntity(entity, "Replace", options)).etag ?? null;
    case "merge":
      return (await table.updateEntity(entity, "Merge", options)).etag ?? null;
    case "replaceAny":
      return (await table.upsertEntity(entity, "Replace", signal)).etag ?? null;
    case "mergeAny":
      return (await table.upsertEntity(entity, "Merge", signal)).etag ?? null;
    case "delete":
      await table.deleteEntity(partition, asked.row, options);
      return null;
  }
}

function actionOf(partition: string, asked: EntityWrite): TransactionAction {
  const entity = stored(partition, asked);
  const options = { etag: asked.ifMatch ?? "*" };
  switch (asked.kind) {
    case "insert":
      return ["create", entity];
    case "update":
      return ["update", entity, "Replace", options];
    case "merge":
      return ["update", entity, "Merge", options];
    case "replaceAny":
      return ["upsert", entity, "Replace"];
    case "mergeAny":
      return ["upsert", entity, "Merge"];
    case "delete":
      return ["delete", { ...entity, etag: options.etag }];
  }
}
