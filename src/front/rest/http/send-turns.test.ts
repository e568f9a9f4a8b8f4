import assert from "node:assert/strict";
import { test } from "node:test";
import { SendTurns, SLICES_PER_TURN } from "./send-turns.ts";

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Asks again and again, and notes when it may send. */
async function send(turns: SendTurns, slices: number, onSlice: () => void): Promise<void> {
  for (let sent = 0; sent < slices; sent++) {
    await turns.next();
    onSlice();
  }
}

test("so many slices are sent in a turn of the event loop, and no more", async () => {
  const turns = new SendTurns();
  let sent = 0;
  const done = send(turns, 3 * SLICES_PER_TURN, () => sent++);
  // It sends in the turn in which it begins, too.
  for (const begun of [2, 3, 3]) {
    await nextTurn();
    assert.equal(sent, begun * SLICES_PER_TURN);
  }
  await done;
});

test("that is so however many there are to send", async () => {
  const turns = new SendTurns();
  let sent = 0;
  const senders = Array.from({ length: 3 * SLICES_PER_TURN }, () => send(turns, 2, () => sent++));
  for (const begun of [2, 3, 4, 5, 6, 6]) {
    await nextTurn();
    assert.equal(sent, begun * SLICES_PER_TURN);
  }
  await Promise.all(senders);
});

test("those who wait go on in the order in which they came, one slice each", async () => {
  const turns = new SendTurns();
  const seen: number[] = [];
  const senders = Array.from({ length: 2 * SLICES_PER_TURN }, (_, sender) =>
    send(turns, 3, () => seen.push(sender)),
  );
  await Promise.all(senders);
  const everyone = senders.map((_, sender) => sender);
  assert.deepEqual(seen.slice(everyone.length), [...everyone, ...everyone]);
});

test("after a pause there is a whole turn again", async () => {
  const turns = new SendTurns();
  await send(turns, SLICES_PER_TURN + 1, () => {});
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  for (let slice = 0; slice < SLICES_PER_TURN; slice++) assert.equal(turns.next(), undefined);
  assert.ok(turns.next() instanceof Promise);
});
