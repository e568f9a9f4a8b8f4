import type { EntitiesItem, Entity } from "./item.ts";

/** Entities that are gathered before they are sorted by partition. */
const GATHERED_MAX = 2_000;
const GATHERED_CHARS_MAX = 8 * 1024 * 1024;

/** Gathers entities of a table into groups of one partition each, which one transaction can write. */
export async function* groupEntities(
  table: string,
  entities: AsyncIterable<Entity> | Iterable<Entity>,
): AsyncGenerator<EntitiesItem> {
  let groups = new Map<string, Entity[]>();
  let count = 0;
  let chars = 0;
  for await (const entity of entities) {
    const partition = `${entity.PartitionKey}`;
    const group = groups.get(partition);
    if (group === undefined) groups.set(partition, [entity]);
    else group.push(entity);
    for (const value of Object.values(entity)) chars += `${value}`.length;
    if (++count < GATHERED_MAX && chars < GATHERED_CHARS_MAX) continue;
    yield* itemsOf(table, groups);
    groups = new Map();
    count = 0;
    chars = 0;
  }
  yield* itemsOf(table, groups);
}

function* itemsOf(table: string, groups: ReadonlyMap<string, Entity[]>): Generator<EntitiesItem> {
  for (const entities of groups.values()) yield { kind: "entities", table, entities };
}
