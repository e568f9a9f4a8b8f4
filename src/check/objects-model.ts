import type { HistoryOperation, HistoryPart } from "./history-file.ts";
import type { Model } from "./linearize.ts";
import { OBJECT_MODEL, type ObjectState } from "./object-model.ts";
import type { Operation } from "./operation.ts";

/** Objects by name; those that nobody has touched yet are missing. */
export type ObjectsState = Readonly<Record<string, ObjectState>>;

type Asked = Operation<HistoryOperation, HistoryOperation>;

/** Several objects, which batches change together: all operations of a batch happen, or none. */
export const OBJECTS_MODEL: Model<ObjectsState, HistoryOperation, HistoryOperation> = {
  initial: {},
  steps(state, operation) {
    const { asked, answer } = operation;
    const { parts } = asked;
    if (parts === undefined) return stepOf(state, operation);
    if (answer === null || (answer.status ?? 0) < 300) return allDone(state, operation, parts);
    const refused = parts[answer.refused ?? -1];
    return refused === undefined ? [state] : stepOf(state, partOf(operation, refused));
  },
  identify: (state) => JSON.stringify(Object.entries(state).sort(byName)),
};

function allDone(
  state: ObjectsState,
  operation: Asked,
  parts: readonly HistoryPart[],
): readonly ObjectsState[] {
  let states: readonly ObjectsState[] = [state];
  for (const part of parts) {
    states = states.flatMap((one) => stepOf(one, partOf(operation, part)));
  }
  return states;
}

/** A part as an operation of its own, with the times and the answer of its batch. */
function partOf(operation: Asked, { object, ...part }: HistoryPart): Asked {
  const { asked, answer } = operation;
  const { parts: _, ...batch } = asked;
  const alone = { ...batch, ...part, object };
  return { ...operation, key: object, asked: alone, answer: answer === null ? null : alone };
}

function stepOf(state: ObjectsState, operation: Asked): readonly ObjectsState[] {
  const { object } = operation.asked;
  const before = state[object] ?? OBJECT_MODEL.initial;
  return OBJECT_MODEL.steps(before, operation).map((after) =>
    after === before ? state : { ...state, [object]: after },
  );
}

function byName([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1;
}
