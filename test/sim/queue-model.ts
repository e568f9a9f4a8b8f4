import {
  type MessageSeen,
  nameIn,
  PEEKED_MAX,
  type QueueAnswer,
  type QueueAsked,
} from "./queue-words.ts";

/** A queue, and the time. */
export interface QueueState {
  readonly nowMs: number;
  /** The time at which the last change was judged; no later change is judged at an earlier one. */
  readonly changedMs: number;
  /** By name. */
  readonly messages: Readonly<Record<string, Message>>;
}

interface Message {
  readonly id: string;
  readonly text: string;
  readonly visibleAtMs: number;
  /** Null if it never expires. */
  readonly expiresMs: number | null;
  readonly receipt: string;
  readonly dequeueCount: number;
}

/** Values that a server is free to choose. */
export interface Chosen {
  idOf(name: string): string;
  receiptOf(name: string): string;
  /** The messages that a get takes, of the visible ones. */
  take(visible: readonly string[], max: number): readonly string[];
}

export interface Step {
  readonly state: QueueState;
  readonly answer: QueueAnswer;
}

export function emptyQueue(nowMs: number): QueueState {
  return { nowMs, changedMs: nowMs, messages: {} };
}

/** One operation on one queue according to the documentation. */
export function perform(state: QueueState, asked: QueueAsked, chosen: Chosen): Step {
  switch (asked.operation) {
    case "put":
      return put(state, asked, chosen);
    case "get":
      return get(state, asked, chosen);
    case "peek": {
      const shown = visibleIn(state).slice(0, PEEKED_MAX);
      const messages = shown.map((name) =>
        messageSeen(state, name, { receipt: null, nextVisibleMs: null }),
      );
      return { state, answer: { refused: null, messages } };
    }
    case "update":
    case "delete":
      return change(state, asked, chosen);
    case "clear":
      return done({ ...state, messages: {} }, []);
    case "advance":
      return done({ ...state, nowMs: state.nowMs + asked.byMs }, []);
  }
}

/** Names of the messages that can be taken now, in no particular order. */
function visibleIn({ messages, nowMs }: QueueState): string[] {
  return Object.keys(messages).filter((name) => {
    const { visibleAtMs } = messages[name] as Message;
    return visibleAtMs <= nowMs && !isExpired(messages[name] as Message, nowMs);
  });
}

/** The queue without expired messages, which makes no difference to later operations. */
export function withoutExpired(state: QueueState): QueueState {
  const living = Object.entries(state.messages).filter(
    ([, message]) => !isExpired(message, state.changedMs),
  );
  return { ...state, messages: Object.fromEntries(living) };
}

function isExpired({ expiresMs }: Message, nowMs: number): boolean {
  return expiresMs !== null && nowMs >= expiresMs;
}

function put(
  state: QueueState,
  asked: Extract<QueueAsked, { operation: "put" }>,
  chosen: Chosen,
): Step {
  const { name, hiddenS, lifeS } = asked;
  const message: Message = {
    id: chosen.idOf(name),
    text: name,
    visibleAtMs: state.nowMs + hiddenS * 1_000,
    expiresMs: lifeS === null ? null : state.nowMs + lifeS * 1_000,
    receipt: chosen.receiptOf(name),
    dequeueCount: 0,
  };
  const after = withMessage(state, name, message);
  return done(after, [messageSeen(after, name, { text: null, dequeueCount: null })]);
}

function get(
  state: QueueState,
  { max, hiddenS }: Extract<QueueAsked, { operation: "get" }>,
  chosen: Chosen,
): Step {
  const taken = chosen.take(visibleIn(state), max);
  let after = state;
  for (const name of taken) {
    const message = state.messages[name] as Message;
    after = withMessage(after, name, {
      ...message,
      visibleAtMs: state.nowMs + hiddenS * 1_000,
      receipt: chosen.receiptOf(name),
      dequeueCount: message.dequeueCount + 1,
    });
  }
  const messages = taken.map((name) => messageSeen(after, name, {}));
  return { state: after, answer: { refused: null, messages } };
}

function change(
  state: QueueState,
  asked: Extract<QueueAsked, { operation: "update" | "delete" }>,
  chosen: Chosen,
): Step {
  const { name, handle } = asked;
  const message = state.messages[name];
  if (message === undefined || isExpired(message, state.nowMs)) {
    return refuse(state, "404 MessageNotFound");
  }
  if (message.receipt !== handle.receipt) return refuse(state, "400 PopReceiptMismatch");
  if (asked.operation === "delete") {
    const { [name]: _, ...messages } = state.messages;
    return done({ ...state, messages }, []);
  }
  const visibleAtMs = state.nowMs + asked.hiddenS * 1_000;
  if (message.expiresMs !== null && visibleAtMs > message.expiresMs) {
    return refuse(state, "400 InvalidQueryParameterValue");
  }
  const receipt = chosen.receiptOf(name);
  const after = withMessage(state, name, { ...message, visibleAtMs, receipt, text: asked.text });
  return done(after, [messageSeen(after, name, { id: null, text: null, dequeueCount: null })]);
}

function withMessage(state: QueueState, name: string, message: Message): QueueState {
  return { ...state, messages: { ...state.messages, [name]: message } };
}

/** All fields of a message in an answer, except those that the operation does not return. */
function messageSeen(
  { messages }: QueueState,
  name: string,
  omitted: Partial<MessageSeen>,
): MessageSeen {
  const { id, text, receipt, dequeueCount, visibleAtMs } = messages[name] as Message;
  const nextVisibleMs = Math.floor(visibleAtMs / 1_000) * 1_000;
  return { id, text, receipt, dequeueCount, nextVisibleMs, ...omitted };
}

function done(state: QueueState, messages: readonly MessageSeen[]): Step {
  return { state, answer: { refused: null, messages } };
}

/** A refusal changes nothing. */
function refuse(state: QueueState, refused: string): Step {
  return { state, answer: { refused } };
}

/** The names of the messages in an answer. */
export function namesIn(answer: QueueAnswer | null): string[] {
  if (answer === null || answer.refused !== null) return [];
  return answer.messages.flatMap(({ text }) => (text === null ? [] : nameIn(text)));
}
