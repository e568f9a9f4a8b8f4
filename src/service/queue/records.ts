import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import {
  count,
  format,
  listOf,
  orNull,
  pairs,
  type RecordOf,
  text,
  u64,
} from "../../base/fields.ts";
import { KeyReader, key, keyAfter, SPACE } from "../../base/keys.ts";
import { DASHED_NAME_CHARS_MAX } from "../../base/limits.ts";
import { instantOf, type Stamp } from "../../base/stamp.ts";
import type { Need } from "../../store/acceleration.ts";
import type { Entry } from "../../store/entry.ts";
import type { Transaction, View } from "../../store/store.ts";
import { storedPolicy } from "../shared/policy-field.ts";
import type { QueueAddress } from "./context.ts";

const queueShape = {
  /**
   * The keys of messages begin with this id, so that deleting or clearing a queue is one record.
   */
  id: u64,
  metadata: pairs,
  policies: listOf(storedPolicy),
};

/** The fields of a message that never change while it is hidden and shown again. */
const messageShape = {
  text,
  insertedMs: count,
  expiresMs: orNull(count),
};

/**
 * A visibility slot: the state of a message until its next get or update, each of which ends one
 * slot and begins another.
 */
const slotShape = {
  messageId: text,
  expiresMs: orNull(count),
  dequeueCount: count,
};

const countShape = { messages: count };

/** The value of records whose key says everything. */
const nothing = format(1, {}).encode({});

export type Queue = Readonly<RecordOf<typeof queueShape>>;
export type Metadata = Queue["metadata"];
export type Message = Readonly<RecordOf<typeof messageShape>>;
export type SlotTerms = Readonly<RecordOf<typeof slotShape>>;

/** A message's place in its queue. */
export interface Slot extends SlotTerms {
  /**
   * Identifies this visibility slot, and no other of any message. Clients see it as the pop
   * receipt.
   */
  readonly receipt: Bytes;
}

/** A message with everything that a queue knows of it, except receipts. */
export interface PlacedMessage extends Message, SlotTerms {
  readonly visibleAtMs: Instant;
}

const queueFormat = format(1, queueShape);
const messageFormat = format(1, messageShape);
const slotFormat = format(1, slotShape);
const countFormat = format(1, countShape);

const MESSAGE_ID_CHARS = 36;
const RECEIPT_BYTES = 16;
/** Records per queue that count messages, so that not all puts and deletes change the same one. */
const COUNT_STRIPES = 16;
/** The sweeper's notes say in which hour something in a queue expires. */
const EXPIRY_UNIT_MS = 3_600_000;

export function queueKey(at: QueueAddress): Bytes {
  return key(SPACE.queue, at.account, at.queue);
}

export function readQueue(view: View, at: QueueAddress): Queue | null {
  // No queue has a name this long, so the store is not asked.
  if (at.queue.length > DASHED_NAME_CHARS_MAX) return null;
  const found = view.get(queueKey(at));
  return found === undefined ? null : queueFormat.decode(found);
}

export function writeQueue(tx: Transaction, at: QueueAddress, value: Queue): void {
  tx.set(queueKey(at), queueFormat.encode(value));
}

/** Frees the queue's name. */
export function deleteQueue(tx: Transaction, at: QueueAddress, queue: Queue): void {
  tx.delete(queueKey(at));
  abandonMessages(tx, queue.id);
}

/** Leaves messages under an id that no queue has any more to the sweeper. */
export function abandonMessages(tx: Transaction, id: bigint): void {
  tx.set(key(SPACE.doomedQueue, id), nothing);
}

export function queueOfEntry(entry: Entry): { name: string; queue: Queue } {
  const parts = new KeyReader(entry.key);
  parts.text();
  return { name: parts.text(), queue: queueFormat.decode(entry.value) };
}

function messageKey(id: bigint, messageId: string): Bytes {
  return key(SPACE.message, id, messageId);
}

/** What a body reads to show the messages of these slots. */
export function messageNeeds(id: bigint, slots: readonly Pick<SlotTerms, "messageId">[]): Need[] {
  return slots.map(({ messageId }) => messageKey(id, messageId));
}

/** What a body reads to find these slots again and to remove their messages. */
export function removalNeeds(id: bigint, slots: readonly Slot[]): Need[] {
  if (slots.length === 0) return [];
  const all = key(SPACE.messageCount, id);
  const counts = { from: all, until: keyAfter(all), options: { limit: COUNT_STRIPES + 1 } };
  return [counts, ...slots.map(({ receipt }) => slotKey(id, receipt))];
}

export function readMessage(view: View, id: bigint, messageId: string): Message | null {
  // No message has an id this long, so the store is not asked.
  if (messageId.length > MESSAGE_ID_CHARS) return null;
  const found = view.get(messageKey(id, messageId));
  return found === undefined ? null : messageFormat.decode(found);
}

export function decodeMessage(found: Bytes): Message {
  return messageFormat.decode(found);
}

export function writeMessage(tx: Transaction, id: bigint, messageId: string, value: Message): void {
  tx.set(messageKey(id, messageId), messageFormat.encode(value));
}

/** The message of a visibility slot. Every slot has one. */
export function messageOfSlot(view: View, id: bigint, { messageId }: SlotTerms): Message {
  const message = readMessage(view, id, messageId);
  if (message === null) throw new Error(`message ${messageId} has a visibility slot and no text`);
  return message;
}

/** Adds a new message with its first visibility slot. */
export function addMessage(tx: Transaction, id: bigint, slot: Slot, message: Message): void {
  writeMessage(tx, id, slot.messageId, message);
  writeSlot(tx, id, slot);
  addToCount(tx, id, slot.messageId, 1);
  if (message.expiresMs !== null) noteExpiry(tx, id, message.expiresMs);
}

/** Removes a message and its current visibility slot. */
export function removeMessage(tx: Transaction, id: bigint, slot: Slot): void {
  tx.delete(messageKey(id, slot.messageId));
  deleteSlot(tx, id, slot);
  addToCount(tx, id, slot.messageId, -1);
}

/** Receipts are ordered by the time at which messages become visible, then by stamp. */
export function receiptOf(visibleAtMs: Instant, stamp: Stamp): Bytes {
  const receipt = Buffer.allocUnsafe(RECEIPT_BYTES);
  receipt.writeBigUInt64BE(BigInt(visibleAtMs), 0);
  receipt.writeBigUInt64BE(stamp, 8);
  return receipt;
}

/** When a receipt was issued: by the get, update or put that began its slot. */
export function issuedMsOf(receipt: Bytes): Instant {
  return instantOf(receipt.readBigUInt64BE(8));
}

/** Key of the first visibility slot that becomes visible at this time or later. */
export function firstSlotKey(id: bigint, visibleAtMs: Instant): Bytes {
  return key(SPACE.messageSlot, id, visibleAtMs);
}

/** When the message of a slot becomes visible, by the slot's key. */
export function visibleAtOfSlotKey(found: Bytes): Instant {
  const parts = new KeyReader(found);
  parts.u64();
  return parts.number();
}

export function slotKey(id: bigint, receipt: Bytes): Bytes {
  return key(SPACE.messageSlot, id, receipt);
}

/** The visibility slot with this receipt, which may be any bytes. */
export function readSlot(view: View, id: bigint, receipt: Bytes): Slot | null {
  if (receipt.length !== RECEIPT_BYTES) return null;
  const found = view.get(slotKey(id, receipt));
  return found === undefined ? null : decodeSlot(found, receipt);
}

export function slotOfEntry(entry: Entry): Slot {
  const receipt = Buffer.from(entry.key.subarray(entry.key.length - RECEIPT_BYTES));
  return decodeSlot(entry.value, receipt);
}

function decodeSlot(found: Bytes, receipt: Bytes): Slot {
  const { messageId, expiresMs, dequeueCount } = slotFormat.decode(found);
  return { messageId, expiresMs, dequeueCount, receipt };
}

export function writeSlot(tx: Transaction, id: bigint, slot: Slot): void {
  tx.set(slotKey(id, slot.receipt), slotFormat.encode(slot));
}

export function deleteSlot(tx: Transaction, id: bigint, slot: Slot): void {
  tx.delete(slotKey(id, slot.receipt));
}

/** Expired messages count until they are swept. */
export function countMessages(view: View, id: bigint): number {
  const all = key(SPACE.messageCount, id);
  const stripes = view.range(all, keyAfter(all), { limit: COUNT_STRIPES });
  return stripes.reduce((sum, { value }) => sum + countFormat.decode(value).messages, 0);
}

function addToCount(tx: Transaction, id: bigint, messageId: string, change: 1 | -1): void {
  // The last digit of an id is random.
  const stripe = Number.parseInt(messageId.slice(-1), COUNT_STRIPES);
  const stripeKey = key(SPACE.messageCount, id, stripe);
  const found = tx.get(stripeKey);
  const messages = found === undefined ? 0 : countFormat.decode(found).messages;
  tx.set(stripeKey, countFormat.encode({ messages: messages + change }));
}

/**
 * Notes that something in the queue expires. Many messages share one note, so it mostly exists
 * already.
 */
function noteExpiry(tx: Transaction, id: bigint, expiresMs: Instant): void {
  const unitEndMs = (Math.floor(expiresMs / EXPIRY_UNIT_MS) + 1) * EXPIRY_UNIT_MS;
  const noteKey = key(SPACE.expiringQueue, unitEndMs, id);
  if (tx.get(noteKey) === undefined) tx.set(noteKey, nothing);
}

/** A queue in which something has expired. */
export interface ExpiryNote {
  readonly key: Bytes;
  readonly id: bigint;
}

/** The first note whose hour has passed. */
export function readExpiryNote(view: View): ExpiryNote | null {
  const from = key(SPACE.expiringQueue);
  const until = key(SPACE.expiringQueue, view.now() + 1);
  const entry = view.range(from, until, { limit: 1 })[0];
  if (entry === undefined) return null;
  const parts = new KeyReader(entry.key);
  parts.u64();
  return { key: Buffer.from(entry.key), id: parts.u64() };
}
