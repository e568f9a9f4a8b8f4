import { isDeepStrictEqual } from "node:util";
import { checkOrder, type Objection, OneToOne, timesIn } from "../../src/check/check-order.ts";
import type { Model } from "../../src/check/linearize.ts";
import type { Operation } from "../../src/check/operation.ts";
import {
  type Chosen,
  emptyQueue,
  namesIn,
  perform,
  type QueueState,
  withoutExpired,
} from "./queue-model.ts";
import {
  type MessageSeen,
  nameIn,
  PEEKED_MAX,
  type QueueAnswer,
  type QueueAsked,
} from "./queue-words.ts";

export type QueueOperation = Operation<QueueAsked, QueueAnswer>;

/**
 * Returns objections to a history of queues having happened one operation at a time: a message that
 * was never put or is gone, a lost one, or one delivered while another client has it. The order of
 * messages is not checked.
 */
export function checkQueues(history: readonly QueueOperation[], startMs: number): Objection[] {
  const queues = new Set(history.flatMap(({ key }) => key ?? []));
  const timesSince = timesIn(history, startMs);
  return [...queues].flatMap((key) => {
    const operations = history.filter((one) => one.key === key || one.key === null);
    const { names, ids } = namesOf(key, operations);
    if (names.objections.length > 0) return names.objections;
    const model = queueModel(startMs, ids, timesSince, deliveriesIn(operations));
    return checkOrder(key, withPutsDecided(operations), model);
  });
}

/**
 * Decides whether the puts without an answer have happened, which spares the search most of its
 * guesses. A message in an answer was put before. A message in no answer was never put, as far as
 * anyone can tell: its presence explains nothing that its absence does not.
 */
function withPutsDecided(operations: readonly QueueOperation[]): QueueOperation[] {
  const seenBy = new Map<string, number>();
  for (const { asked, answer, returned } of operations) {
    if (asked.operation !== "get" && asked.operation !== "peek") continue;
    for (const name of namesIn(answer)) {
      seenBy.set(name, Math.min(returned, seenBy.get(name) ?? returned));
    }
  }
  return operations.flatMap((one) => {
    if (one.asked.operation !== "put" || one.answer !== null) return [one];
    const returned = seenBy.get(one.asked.name);
    return returned === undefined ? [] : [{ ...one, returned }];
  });
}

/** The deliveries that were answered. An unanswered get made none of them. */
function deliveriesIn(operations: readonly QueueOperation[]): ReadonlySet<string> {
  const known = new Set<string>();
  for (const { asked, answer } of operations) {
    if (asked.operation !== "get" || answer === null || answer.refused !== null) continue;
    for (const { text, dequeueCount } of answer.messages) {
      known.add(delivery(nameIn(text ?? ""), dequeueCount ?? 0));
    }
  }
  return known;
}

function delivery(name: string, dequeueCount: number): string {
  return `${dequeueCount} of ${name}`;
}

/** Checks that an id names one message, and that a receipt is issued once. */
function namesOf(key: string, operations: readonly QueueOperation[]) {
  const names = new OneToOne(key);
  const ids = new Map<string, string>();
  for (const [at, { asked, answer }] of operations.entries()) {
    if (answer === null || answer.refused !== null) continue;
    for (const { id, text, receipt } of answer.messages) {
      const name = "name" in asked ? asked.name : nameIn(text ?? "");
      if (id !== null) {
        ids.set(name, id);
        names.learn("id", id, name);
      }
      if (receipt !== null) names.learn("receipt", receipt, `operation ${at} on ${name}`);
    }
  }
  return { names, ids };
}

/** A change is judged at some time while it was in progress, as in the model of blobs. */
function queueModel(
  startMs: number,
  ids: ReadonlyMap<string, string>,
  timesSince: (tick: number) => readonly number[],
  answered: ReadonlySet<string>,
): Model<QueueState, QueueAsked, QueueAnswer> {
  const idOf = (name: string) => ids.get(name) ?? `of ${name}`;
  return {
    initial: emptyQueue(startMs),
    steps(before, operation) {
      const { asked, answer, invoked } = operation;
      if (asked.operation === "advance")
        return [perform(before, asked, unknownChoices(idOf)).state];
      const isRead = asked.operation === "peek";
      const after: QueueState[] = [];
      for (const nowMs of isRead ? [before.nowMs] : timesSince(invoked)) {
        if (nowMs < before.changedMs || nowMs > before.nowMs) continue;
        const past = nowMs === before.nowMs ? before : { ...before, nowMs };
        for (const chosen of choicesFor(past, operation, idOf, answered)) {
          const { state, answer: expected } = perform(past, asked, chosen);
          if (answer !== null && !isSame(expected, answer)) continue;
          if (state !== past) {
            after.push(withoutExpired({ ...state, nowMs: before.nowMs, changedMs: nowMs }));
          } else if (answer !== null) return [before];
        }
      }
      return after;
    },
    identify: ({ nowMs, changedMs, messages }) =>
      JSON.stringify([nowMs, changedMs, Object.entries(messages).sort()]),
  };
}

/** The server's possible choices: those in its answer or, without an answer, any. */
function choicesFor(
  state: QueueState,
  { asked, answer }: QueueOperation,
  idOf: Chosen["idOf"],
  answered: ReadonlySet<string>,
): readonly Chosen[] {
  if (answer === null && asked.operation === "get") return unknownGets(state, idOf, answered);
  if (answer === null || answer.refused !== null) return [unknownChoices(idOf)];
  const receipts = new Map<string, string | null>();
  for (const { text, receipt } of answer.messages) {
    receipts.set("name" in asked ? asked.name : nameIn(text ?? ""), receipt);
  }
  const taken = namesIn(answer);
  const take = (visible: readonly string[], max: number) => {
    const isAll = taken.length === Math.min(visible.length, max);
    return isAll && taken.every((name) => visible.includes(name)) ? taken : visible.slice(0, max);
  };
  return [{ idOf, receiptOf: (name) => receipts.get(name) ?? PLACEHOLDER, take }];
}

const PLACEHOLDER = "unknown";

function unknownChoices(idOf: Chosen["idOf"]): Chosen {
  return { idOf, receiptOf: () => PLACEHOLDER, take: () => [] };
}

/**
 * A client that leaves without an answer asks for one message: it may have been any visible one.
 */
function unknownGets(
  { messages }: QueueState,
  idOf: Chosen["idOf"],
  answered: ReadonlySet<string>,
): Chosen[] {
  const isPossible = ([name, { dequeueCount }]: [string, { readonly dequeueCount: number }]) =>
    !answered.has(delivery(name, dequeueCount + 1));
  return Object.entries(messages)
    .filter(isPossible)
    .map(([name]) => ({
      ...unknownChoices(idOf),
      take: (visible) => (visible.includes(name) ? [name] : []),
    }));
}

function isSame(expected: QueueAnswer, actual: QueueAnswer): boolean {
  if (expected.refused !== null || actual.refused !== null)
    return expected.refused === actual.refused;
  const [ours, theirs] = [expected.messages, actual.messages];
  if (ours.length !== theirs.length || ours.length > PEEKED_MAX) return false;
  const sorted = (messages: readonly MessageSeen[]) =>
    messages.toSorted((a, b) => ((a.text ?? "") < (b.text ?? "") ? -1 : 1));
  return isDeepStrictEqual(sorted(ours), sorted(theirs));
}
