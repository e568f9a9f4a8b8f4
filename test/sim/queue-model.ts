import { nameIn, PEEKED_MAX, type QueueAnswer, type QueueAsked, type Told } from "./queue-words.ts";

/** A queue, and the time. */
export interface QueueState {
  readonly nowMs: number;
  /** The time by which the last change was judged; none is judged by an earlier one. */
  readonly changedMs: number;
  /** By name. */
  readonly messages: Readonly<Record<string, Message>>;
}

interface Message {
  readonly id: string;
  readonly text: string;
  readonly visibleAtMs: number;
  /** Null for ever. */
  readonly expiresMs: number | null;
  readonly receipt: string;
  readonly dequeueCount: number;
}

/** What a server is free to choose. */
export interface Chosen {
  idOf(name: string): string;
  receiptOf(name: string): string;
  /** The messages that a get takes, of those that it could. */
  take(visible: readonly string[], max: number): readonly string[];
}

export interface Step {
  readonly state: QueueState;
  readonly answer: QueueAnswer;
}

export function emptyQueue(nowMs: number): QueueState {
  return { nowMs, changedMs: nowMs, messages: {} };
}

/** What the documentation says about one operation on one queue. */
export function perform(state: QueueState, asked: QueueAsked, chosen: Chosen): Step {
  switch (asked.operation) {
    case "put":
      return put(state, asked, chosen);
    case "get":
      return get(state, asked, chosen);
    case "peek": {
      const shown = visibleIn(state).slice(0, PEEKED_MAX);
      const messages = shown.map((name) =>
        told(state, name, { receipt: null, nextVisibleMs: null }),
      );
      return { state, answer: { refused: null, messages } };
    }
    case "update":
    case "delete":
      return change(state, asked, chosen);
    case "clear":
      return done({ ...state, messages: {} }, []);
    case "turn":
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

/** The same queue to everybody who is judged from now on. */
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
  return done(after, [told(after, name, { text: null, dequeueCount: null })]);
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
  const messages = taken.map((name) => told(after, name, {}));
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
  return done(after, [told(after, name, { id: null, text: null, dequeueCount: null })]);
}

function withMessage(state: QueueState, name: string, message: Message): QueueState {
  return { ...state, messages: { ...state.messages, [name]: message } };
}

/** All that can be told of a message, but for what the operation does not tell. */
function told({ messages }: QueueState, name: string, untold: Partial<Told>): Told {
  const { id, text, receipt, dequeueCount, visibleAtMs } = messages[name] as Message;
  const nextVisibleMs = Math.floor(visibleAtMs / 1_000) * 1_000;
  return { id, text, receipt, dequeueCount, nextVisibleMs, ...untold };
}

function done(state: QueueState, messages: readonly Told[]): Step {
  return { state, answer: { refused: null, messages } };
}

/** What is refused changes nothing. */
function refuse(state: QueueState, refused: string): Step {
  return { state, answer: { refused } };
}

/** The names of the messages in an answer. */
export function namesIn(answer: QueueAnswer | null): string[] {
  if (answer === null || answer.refused !== null) return [];
  return answer.messages.flatMap(({ text }) => (text === null ? [] : nameIn(text)));
}
