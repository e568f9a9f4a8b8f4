import { isDeepStrictEqual } from "node:util";
import { checkOrder, type Objection, OneToOne } from "../../src/check/check-order.ts";
import type { Model } from "../../src/check/linearize.ts";
import type { Operation } from "../../src/check/operation.ts";
import type { Entity, EntityAnswer, EntityAsked, EntityWrite } from "./entity-words.ts";

/** A partition: entities by row. */
export type Partition = Readonly<Record<string, Entity>>;

export interface Step {
  readonly state: Partition;
  readonly answer: EntityAnswer;
}

/** The server's choices: the ETag of a write, by the name of the write. */
export type EtagOf = (write: string) => string;

/** One operation on one partition according to the documentation. */
export function perform(state: Partition, asked: EntityAsked, etagOf: EtagOf): Step {
  switch (asked.operation) {
    case "get": {
      const entity = state[asked.row];
      if (entity === undefined) return refuse(state, "404 ResourceNotFound");
      return { state, answer: found({ [asked.row]: entity }) };
    }
    case "query":
      return { state, answer: found(state) };
    case "write":
      return apply(state, [asked.write], etagOf, () => "");
    case "batch":
      return apply(state, asked.writes, etagOf, (index) => `${index}:`);
  }
}

/** Applies the writes in their order, or none of them. */
function apply(
  state: Partition,
  writes: readonly EntityWrite[],
  etagOf: EtagOf,
  prefix: (index: number) => string,
): Step {
  const rows: Record<string, Entity> = { ...state };
  const etags: (string | null)[] = [];
  for (const [index, write] of writes.entries()) {
    const refused = judgeWrite(rows[write.row], write);
    if (refused !== null) return refuse(state, prefix(index) + refused);
    if (write.kind === "delete") delete rows[write.row];
    else rows[write.row] = written(rows[write.row], write, etagOf(write.name));
    etags.push(rows[write.row]?.etag ?? null);
  }
  return { state: rows, answer: { refused: null, etags, found: {} } };
}

function judgeWrite(old: Entity | undefined, { kind, ifMatch }: EntityWrite): string | null {
  if (kind === "insert") return old === undefined ? null : "409 EntityAlreadyExists";
  if (ifMatch === null) return null;
  if (old === undefined) return "404 ResourceNotFound";
  return ifMatch === "*" || ifMatch === old.etag ? null : "412 UpdateConditionNotSatisfied";
}

function written(old: Entity | undefined, write: EntityWrite, etag: string): Entity {
  const { kind, name, property } = write;
  const keeps = kind === "merge" || kind === "mergeAny";
  const before = { a: keeps ? (old?.a ?? null) : null, b: keeps ? (old?.b ?? null) : null };
  return { etag, last: name, ...before, [property]: name };
}

export type EntityOperation = Operation<EntityAsked, EntityAnswer>;

/** Returns objections to a history of partitions having happened one operation at a time. */
export function checkEntities(history: readonly EntityOperation[]): Objection[] {
  const partitions = new Set(history.flatMap(({ key }) => key ?? []));
  return [...partitions].flatMap((key) => {
    const operations = history.filter((operation) => operation.key === key);
    const { names, etags } = etagsIn(key, operations);
    if (names.objections.length > 0) return names.objections;
    return checkOrder(key, operations, entityModel(etags));
  });
}

function entityModel(
  etags: ReadonlyMap<string, string>,
): Model<Partition, EntityAsked, EntityAnswer> {
  // A placeholder stands for an ETag that no answer shows.
  const etagOf = (write: string) => etags.get(write) ?? `of ${write}`;
  return {
    initial: {},
    steps(before, { asked, answer }) {
      const { state, answer: expected } = perform(before, asked, etagOf);
      if (answer === null) return state === before ? [] : [state];
      return isSame(expected, answer) ? [state] : [];
    },
    identify: (state) => JSON.stringify(Object.entries(state).sort()),
  };
}

function isSame(expected: EntityAnswer, actual: EntityAnswer): boolean {
  if (expected.refused !== null || actual.refused !== null)
    return expected.refused === actual.refused;
  return isDeepStrictEqual(expected, actual);
}

/** Checks that an ETag names one write, and that a write has one ETag in all answers. */
function etagsIn(key: string, operations: readonly EntityOperation[]) {
  const names = new OneToOne(key);
  const etags = new Map<string, string>();
  const learn = (etag: string, write: string) => {
    etags.set(write, etag);
    names.learn("ETag", etag, write);
    names.learn("write", write, etag);
  };
  for (const { asked, answer } of operations) {
    if (answer === null || answer.refused !== null) continue;
    for (const { etag, last } of Object.values(answer.found)) learn(etag, last);
    for (const [at, { name }] of writesOf(asked).entries()) {
      const etag = answer.etags[at] ?? null;
      if (etag !== null) learn(etag, name);
    }
  }
  return { names, etags };
}

export function writesOf(asked: EntityAsked): readonly EntityWrite[] {
  if (asked.operation === "write") return [asked.write];
  return asked.operation === "batch" ? asked.writes : [];
}

function found(entities: Readonly<Record<string, Entity>>): EntityAnswer {
  return { refused: null, etags: [], found: entities };
}

/** A refusal changes nothing. */
function refuse(state: Partition, refused: string): Step {
  return { state, answer: { refused } };
}
