import type { HistoryMessage, HistoryOperation } from "./history-file.ts";
import type { Model } from "./linearize.ts";

/** A queue, as far as answers have shown it. */
export interface MessagesState {
  /** By id. */
  readonly messages: Readonly<Record<string, SeenMessage>>;
  /** Ids of messages that were deleted. */
  readonly gone: readonly string[];
}

interface SeenMessage {
  /** The latest; null if nobody knows. */
  readonly receipt: string | null;
  /** Null if nobody knows. */
  readonly visibleAtMs: number | null;
}

/** Answers tell times in whole seconds. */
const SECOND_MS = 1_000;

/**
 * A queue: a message is not given to two clients within its timeout, a receipt is good until the
 * next one, and what is visible is found. Messages that were there before are unknown until seen.
 */
export const MESSAGES_MODEL: Model<MessagesState, HistoryOperation, HistoryOperation> = {
  initial: { messages: {}, gone: [] },
  steps(state, { asked, answer }) {
    if (answer === null) return unanswered(state, asked);
    return (answer.status ?? 0) >= 300 ? refused(state, answer) : done(state, answer);
  },
  identify: ({ messages, gone }) =>
    JSON.stringify([Object.entries(messages).sort(), gone.toSorted()]),
};

function done(state: MessagesState, one: HistoryOperation): readonly MessagesState[] {
  const { verb, messages = [] } = one;
  const [message] = messages;
  switch (verb) {
    case "send":
      if (message === undefined || isKnown(state, message.id)) return [];
      return [withMessages(state, [message])];
    case "receive":
      return areFound(state, one) ? [withMessages(state, messages)] : [];
    case "peek":
      return areFound(state, one) ? [state] : [];
    case "update":
      return message !== undefined && holds(state, message.id, one)
        ? [withMessages(state, [message])]
        : [];
    case "remove":
      return message !== undefined && holds(state, message.id, one)
        ? [without(state, [message.id])]
        : [];
    default:
      return [without(state, Object.keys(state.messages))];
  }
}

function isKnown({ messages, gone }: MessagesState, id: string): boolean {
  return messages[id] !== undefined || gone.includes(id);
}

/** Whether a get or peek may find these messages, and no others. */
function areFound(state: MessagesState, one: HistoryOperation): boolean {
  const { messages = [], max = 1, fromMs, toMs } = one;
  const mayBeSeen = ({ id }: HistoryMessage) => {
    if (state.gone.includes(id)) return false;
    const visibleAtMs = state.messages[id]?.visibleAtMs ?? null;
    return visibleAtMs === null || toMs === undefined || visibleAtMs <= toMs;
  };
  if (!messages.every(mayBeSeen)) return false;
  if (messages.length >= max || fromMs === undefined) return true;
  const found = new Set(messages.map(({ id }) => id));
  return Object.entries(state.messages).every(
    ([id, { visibleAtMs }]) =>
      found.has(id) || visibleAtMs === null || visibleAtMs + SECOND_MS > fromMs,
  );
}

/** Whether the receipt that was sent (`value`) is the latest. */
function holds(
  { messages, gone }: MessagesState,
  id: string,
  { value }: HistoryOperation,
): boolean {
  if (gone.includes(id)) return false;
  const receipt = messages[id]?.receipt ?? null;
  return receipt === null || receipt === value;
}

/** A refusal changes nothing, and must have a reason. */
function refused(state: MessagesState, one: HistoryOperation): readonly MessagesState[] {
  const [message] = one.messages ?? [];
  if (message === undefined) return [state];
  const { status, code } = one;
  if (status === 404 && code === "MessageNotFound") {
    // Its life may have ended, too: nobody has recorded when.
    return [state];
  }
  if (code !== "PopReceiptMismatch") return [state];
  const receipt = state.messages[message.id]?.receipt ?? null;
  return receipt === null || receipt !== one.value ? [state] : [];
}

/** It may have happened, with receipts and times that nobody knows. */
function unanswered(state: MessagesState, asked: HistoryOperation): readonly MessagesState[] {
  const ids = asked.messages?.map(({ id }) => id) ?? [];
  switch (asked.verb) {
    case "receive":
      return [withMessages(state, Object.keys(state.messages).map(unknown))];
    case "update":
      return [withMessages(state, ids.map(unknown))];
    case "remove":
      return [without(state, ids)];
    case "clear":
      return [without(state, Object.keys(state.messages))];
    default:
      return [];
  }
}

function unknown(id: string): HistoryMessage {
  return { id, receipt: null, visibleAtMs: null };
}

function withMessages(state: MessagesState, messages: readonly HistoryMessage[]): MessagesState {
  const added = messages.map(({ id, receipt, visibleAtMs }) => [id, { receipt, visibleAtMs }]);
  return { ...state, messages: { ...state.messages, ...Object.fromEntries(added) } };
}

function without({ messages, gone }: MessagesState, ids: readonly string[]): MessagesState {
  const left = Object.entries(messages).filter(([id]) => !ids.includes(id));
  return { messages: Object.fromEntries(left), gone: [...gone, ...ids] };
}
