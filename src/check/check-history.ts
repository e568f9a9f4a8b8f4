import { FILE_MODEL } from "./file-model.ts";
import type { HistoryFile, HistoryOperation, HistoryRange } from "./history-file.ts";
import { type DeadEnd, linearize, type Model, type Verdict } from "./linearize.ts";
import { MESSAGES_MODEL } from "./messages-model.ts";
import { OBJECT_MODEL } from "./object-model.ts";
import { OBJECTS_MODEL } from "./objects-model.ts";
import type { Operation } from "./operation.ts";

/** Far more than a correct history takes. */
const STATES_MAX = 200_000;

/** What the checker says about one object. */
export interface ObjectVerdict {
  readonly object: string;
  readonly kind: HistoryOperation["kind"];
  readonly verdict: "explained" | "unexplained" | "undecided";
  /** The order that explains all answers; empty unless there is one. */
  readonly order: readonly HistoryOperation[];
  /** Why there is none; null if there is one. */
  readonly why: string | null;
}

/**
 * Checks each object of a history: whether some order of its operations explains every answer.
 * Objects that a batch has touched together are checked together.
 */
export function checkHistory({ operations }: Pick<HistoryFile, "operations">): ObjectVerdict[] {
  return groupsIn(operations).map((all) => {
    const [{ kind }] = all as [HistoryOperation];
    if (kind === "queue") return verdictOf(MESSAGES_MODEL, all);
    if (kind === "file") return verdictOf(FILE_MODEL, all);
    return all.some(({ verb }) => verb === "batch")
      ? verdictOf(OBJECTS_MODEL, all)
      : verdictOf(OBJECT_MODEL, all);
  });
}

/** The operations that must be ordered together, in the order in which they first appear. */
function groupsIn(operations: readonly HistoryOperation[]): HistoryOperation[][] {
  const groups = new Map<string, HistoryOperation[]>();
  for (const one of operations) {
    const keys = objectsOf(one).map((object) => `${one.kind} ${object}`);
    const joined = new Set(keys.flatMap((key) => groups.get(key) ?? []));
    joined.add(one);
    const group = [...joined];
    for (const other of group) {
      for (const object of objectsOf(other)) groups.set(`${one.kind} ${object}`, group);
    }
  }
  return [...new Set(groups.values())];
}

function objectsOf({ object, parts }: HistoryOperation): readonly string[] {
  return parts?.map((part) => part.object) ?? [object];
}

function verdictOf<State>(
  model: Model<State, HistoryOperation, HistoryOperation>,
  all: readonly HistoryOperation[],
): ObjectVerdict {
  const [{ kind }] = all as [HistoryOperation];
  const object = [...new Set(all.flatMap(objectsOf))].join(", ");
  const asOperations = all.map(toOperation);
  const found: Verdict<State, HistoryOperation, HistoryOperation> = linearize(
    model,
    asOperations,
    STATES_MAX,
  );
  const about = { kind, object, verdict: found.kind };
  switch (found.kind) {
    case "explained":
      return { ...about, order: found.order.map(({ asked }) => asked), why: null };
    case "undecided":
      return {
        ...about,
        order: [],
        why: `undecided after ${found.statesSeen} states: record less, or with fewer clients`,
      };
    case "unexplained":
      return { ...about, order: [], why: whyNot(all.length, found.dead) };
  }
}

function whyNot(
  operations: number,
  { explained, state, next }: DeadEnd<unknown, HistoryOperation, HistoryOperation>,
): string {
  const lines = next.map(
    ({ asked }) =>
      `  ${asked.client}, ${asked.invoked} to ${asked.returned ?? "?"}: ${describeOperation(asked)}`,
  );
  return [
    `no order explains more than ${explained} of ${operations} operations. It ends with`,
    `  ${JSON.stringify(state)}, where none of these fits in a way that leads on:`,
    ...lines,
  ].join("\n");
}

/** An operation that failed with 500 or more may have happened, now or later. */
function toOperation(
  one: HistoryOperation,
  at: number,
): Operation<HistoryOperation, HistoryOperation> {
  const isAnswered = one.returned !== null && (one.status ?? 0) < 500;
  return {
    client: at,
    key: one.object,
    asked: one,
    answer: isAnswered ? one : null,
    invoked: one.invoked,
    returned: isAnswered ? (one.returned as number) : Number.POSITIVE_INFINITY,
  };
}

/** `put If-Match → 412 ConditionNotMet` */
export function describeOperation(one: HistoryOperation): string {
  const conditions = [
    ...(one.ifMatch ? ["If-Match"] : []),
    ...(one.ifNoneMatch ? ["If-None-Match"] : []),
    ...(one.leaseId && ["put", "change", "delete", "get"].includes(one.verb) ? ["lease"] : []),
  ];
  const answer = one.status === null ? "no answer" : [one.status, one.code ?? ""].join(" ").trim();
  const bytes = one.range === undefined ? [] : [`bytes ${bytesOf(one.range)}`];
  const parts = one.parts === undefined ? [] : [`of ${one.parts.length}`];
  return `${[one.verb, ...parts, ...bytes, ...conditions].join(" ")} → ${answer}`;
}

function bytesOf([from, length]: HistoryRange): string {
  return `${from} to ${from + length - 1}`;
}
