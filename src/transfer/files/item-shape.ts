import type { Item } from "../item.ts";

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === "string";
const count: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const object =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === "object" &&
    value !== null &&
    Object.entries(fields).every(([name, check]) =>
      check((value as Readonly<Record<string, unknown>>)[name]),
    );
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

const body = object({ file: text, bytes: count, sha256: text });
const ranges = optional(
  listOf((value) => listOf(count)(value) && (value as unknown[]).length === 2),
);
const pairs = listOf((value) => listOf(text)(value) && (value as unknown[]).length === 2);
const blocks = optional(listOf(object({ id: text, bytes: count })));
const revision = object({ type: text, metadata: pairs, tags: pairs, ranges, blocks, body });
const staged = optional(listOf(object({ id: text, body })));
const named = { name: text, policies: listOf(object({ id: text })) };

/** The fields without which an item cannot be read. */
const SHAPES: Readonly<Record<Item["kind"], Check>> = {
  service: object({ service: text, xml: text }),
  container: object({ ...named, metadata: pairs }),
  blob: object({ container: text, name: text, revisions: listOf(revision), staged }),
  queue: object({ ...named, metadata: pairs }),
  messages: object({ queue: text, messages: listOf(object({ text })) }),
  table: object(named),
  entities: object({ table: text, entities: listOf(object({ PartitionKey: text, RowKey: text })) }),
  share: object({ ...named, metadata: pairs }),
  directory: object({ share: text, path: text, metadata: pairs }),
  file: object({ share: text, path: text, metadata: pairs, ranges, body }),
  removal: object({ share: text, path: text }),
  shareSnapshot: object({ share: text, taken: text, metadata: pairs }),
};

/** Whether a line of a manifest has the shape of an item. */
export function hasShapeOfItem(line: object): boolean {
  const { kind } = line as { kind?: unknown };
  if (typeof kind !== "string" || !Object.hasOwn(SHAPES, kind)) return false;
  return SHAPES[kind as Item["kind"]](line);
}
