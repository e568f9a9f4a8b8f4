import type { EntitiesItem, Entity } from "./item.ts";

/** Entities that are gathered before they are sorted by partition. */
const GATHERED_MAX = 2_000;
const GATHERED_CHARS_MAX = 8 * 1024 * 1024;

export interface TableEntity {
  readonly table: string;
  readonly entity: Entity;
}

/** Gathers entities into groups of one partition each, which one transaction can write. */
export async function* groupEntities(
  entities: AsyncIterable<TableEntity>,
): AsyncGenerator<EntitiesItem> {
  let current = "";
  let groups = new Map<string, Entity[]>();
  let [count, chars] = [0, 0];
  for await (const { table, entity } of entities) {
    const isFull = count === GATHERED_MAX || chars >= GATHERED_CHARS_MAX;
    if (isFull || table !== current) {
      yield* itemsOf(current, groups);
      groups = new Map();
      [count, chars] = [0, 0];
    }
    current = table;
    const partition = `${entity.PartitionKey}`;
    const group = groups.get(partition);
    if (group === undefined) groups.set(partition, [entity]);
    else group.push(entity);
    count++;
    for (const value of Object.values(entity)) chars += `${value}`.length;
  }
  yield* itemsOf(current, groups);
}

function* itemsOf(table: string, groups: ReadonlyMap<string, Entity[]>): Generator<EntitiesItem> {
  for (const entities of groups.values()) yield { kind: "entities", table, entities };
}
