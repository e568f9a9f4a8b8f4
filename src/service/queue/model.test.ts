import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Bytes } from "../../base/bytes.ts";
import { Fault, type FaultCode } from "../../base/fault.ts";
import { clearMessages } from "./clear-messages.ts";
import { deleteMessage } from "./delete-message.ts";
import { getQueueMetadata } from "./get-queue-metadata.ts";
import { peekMessages } from "./peek-messages.ts";
import { putMessage } from "./put-message.ts";
import { Queues } from "./queues.fixture.ts";
import { updateMessage } from "./update-message.ts";

type Step =
  | { readonly do: "put"; readonly hiddenMs: number; readonly lifeMs: number | null }
  | { readonly do: "get"; readonly max: number; readonly hiddenMs: number }
  | { readonly do: "peek"; readonly max: number }
  | { readonly do: "delete"; readonly receipt: number }
  | { readonly do: "update"; readonly receipt: number; readonly hiddenMs: number }
  | { readonly do: "advance"; readonly byMs: number }
  | { readonly do: "clear" | "sweep" };

interface ModelMessage {
  readonly id: string;
  readonly expiresMs: number;
  text: string;
  visibleAtMs: number;
  /** When its receipt was issued. */
  order: number;
  receipt: Bytes;
  dequeueCount: number;
}

const shortMs = fc.integer({ min: 0, max: 40 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("put" as const),
      hiddenMs: shortMs,
      lifeMs: fc.option(fc.integer({ min: 1, max: 80 })),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("get" as const),
      max: fc.integer({ min: 1, max: 5 }),
      hiddenMs: fc.integer({ min: 1, max: 40 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("peek" as const),
      max: fc.integer({ min: 1, max: 5 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("delete" as const), receipt: fc.nat({ max: 30 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("update" as const),
      receipt: fc.nat({ max: 30 }),
      hiddenMs: shortMs,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("advance" as const), byMs: shortMs }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("clear" as const, "sweep" as const) }) },
);

/** A simple model of a queue: a list, searched from end to end. */
class Model {
  messages: ModelMessage[] = [];
  /** Every receipt ever issued, latest last, with its message. */
  readonly given: { id: string; receipt: Bytes }[] = [];
  #order = 0;

  visible(now: number, max: number): ModelMessage[] {
    return this.messages
      .filter((message) => message.visibleAtMs <= now && now < message.expiresMs)
      .sort((a, b) => a.visibleAtMs - b.visibleAtMs || a.order - b.order)
      .slice(0, max);
  }

  holds(at: number, now: number): ModelMessage | FaultCode {
    const { id, receipt } = this.given.at(-1 - at) as (typeof this.given)[number];
    const message = this.messages.find((one) => one.id === id);
    if (message === undefined || now >= message.expiresMs) return "MessageNotFound";
    return message.receipt.equals(receipt) ? message : "PopReceiptMismatch";
  }

  give(message: ModelMessage, visibleAtMs: number, receipt: Bytes): void {
    const isNew = this.given.every((one) => !one.receipt.equals(receipt));
    assert.ok(isNew, "a receipt was issued twice");
    message.visibleAtMs = visibleAtMs;
    message.receipt = receipt;
    message.order = ++this.#order;
    this.given.push({ id: message.id, receipt });
  }
}

async function codeOf(promise: Promise<unknown>): Promise<FaultCode | null> {
  try {
    await promise;
    return null;
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}

async function put(queues: Queues, model: Model, { hiddenMs, lifeMs }: Step & { do: "put" }) {
  const now = queues.clock.now();
  const text = `text ${model.given.length}`;
  const asked = { ...queues.asked, text, hiddenMs, lifeMs };
  if (lifeMs !== null && hiddenMs >= lifeMs) {
    assert.equal(await codeOf(putMessage(queues.context, asked)), "InvalidQueryParameterValue");
    return;
  }
  const done = await putMessage(queues.context, asked);
  const message: ModelMessage = {
    id: done.messageId,
    expiresMs: lifeMs === null ? Number.POSITIVE_INFINITY : now + lifeMs,
    text,
    visibleAtMs: 0,
    order: 0,
    receipt: done.receipt,
    dequeueCount: 0,
  };
  model.give(message, now + hiddenMs, done.receipt);
  model.messages.push(message);
}

async function get(queues: Queues, model: Model, { max, hiddenMs }: Step & { do: "get" }) {
  const now = queues.clock.now();
  const expected = model.visible(now, max);
  const got = await queues.get(max, hiddenMs);
  assert.deepEqual(
    got.map(({ messageId, text, dequeueCount }) => [messageId, text, dequeueCount]),
    expected.map(({ id, text, dequeueCount }) => [id, text, dequeueCount + 1]),
  );
  expected.forEach((message, at) => {
    message.dequeueCount++;
    model.give(message, now + hiddenMs, got[at]?.receipt as Bytes);
  });
}

async function peek(queues: Queues, model: Model, { max }: Step & { do: "peek" }) {
  const peeked = await peekMessages(queues.context, { ...queues.asked, messagesMax: max });
  assert.deepEqual(
    peeked.map(({ messageId, text, dequeueCount }) => [messageId, text, dequeueCount]),
    model
      .visible(queues.clock.now(), max)
      .map(({ id, text, dequeueCount }) => [id, text, dequeueCount]),
  );
}

async function change(
  queues: Queues,
  model: Model,
  asked: Step & { do: "delete" | "update" },
): Promise<void> {
  if (model.given.length === 0) return;
  const now = queues.clock.now();
  const at = asked.receipt % model.given.length;
  const { id, receipt } = model.given.at(-1 - at) as (typeof model.given)[number];
  const found = model.holds(at, now);
  const use = { ...queues.asked, messageId: id, receipt };
  if (asked.do === "delete") {
    const code = await codeOf(deleteMessage(queues.context, use));
    assert.equal(code, typeof found === "string" ? found : null);
    model.messages = model.messages.filter((message) => message !== found);
    return;
  }
  const text = asked.hiddenMs % 2 === 0 ? null : `updated ${model.given.length}`;
  const update = updateMessage(queues.context, { ...use, hiddenMs: asked.hiddenMs, text });
  if (typeof found === "string") {
    assert.equal(await codeOf(update), found);
  } else if (now + asked.hiddenMs > found.expiresMs) {
    assert.equal(await codeOf(update), "InvalidQueryParameterValue");
  } else {
    model.give(found, now + asked.hiddenMs, (await update).receipt);
    found.text = text ?? found.text;
  }
}

async function run(queues: Queues, model: Model, next: Step): Promise<void> {
  switch (next.do) {
    case "put":
      return put(queues, model, next);
    case "get":
      return get(queues, model, next);
    case "peek":
      return peek(queues, model, next);
    case "delete":
    case "update":
      return change(queues, model, next);
    case "advance":
      return queues.clock.advance(next.byMs);
    case "clear":
      model.messages = [];
      return clearMessages(queues.context, queues.asked);
    case "sweep":
      return queues.sweep();
  }
}

test("whatever is done to a queue, it behaves like a list searched from end to end", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
      const queues = await Queues.open();
      const model = new Model();
      for (const next of steps) {
        await run(queues, model, next);
        const { messagesAbout } = await getQueueMetadata(queues.context, queues.asked);
        const living = model.messages.filter(({ expiresMs }) => queues.clock.now() < expiresMs);
        assert.ok(messagesAbout >= living.length && messagesAbout <= model.messages.length);
      }
      queues.clock.advance(2 * 3_600_000);
      await queues.sweep();
      const { messagesAbout } = await getQueueMetadata(queues.context, queues.asked);
      const left = model.messages.filter(({ expiresMs }) => queues.clock.now() < expiresMs);
      assert.equal(messagesAbout, left.length);
    }),
    { numRuns: 300 },
  );
});
