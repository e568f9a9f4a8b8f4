import assert from "node:assert/strict";
import { test } from "node:test";
import { key, SPACE } from "../base/keys.ts";
import { type Store, StoreError, type Transaction, type View } from "../store/store.ts";
import { BEAT_MS, LAPSE_MARGIN_MS, LEASE_MS, NotLeader } from "./front-end.ts";
import { FrontEnds } from "./front-ends.fixture.ts";

const KEY = key(SPACE.engine, "test");
const write = (tx: Transaction) => tx.set(KEY, Buffer.from("x"));
const isWritten = (store: Store) => store.read((view) => view.get(KEY) !== undefined);

test("the first front end leads; when it stops, another one leads after its lease", async () => {
  const ends = new FrontEnds();
  const [one, other] = [await ends.add(), await ends.add()];
  assert.deepEqual([one.frontEnd.isSweeper, other.frontEnd.isSweeper], [true, false]);
  await ends.pass(LEASE_MS - BEAT_MS, [other]);
  assert.equal(other.frontEnd.isSweeper, false);
  await ends.pass(BEAT_MS, [other]);
  assert.equal(other.frontEnd.isSweeper, true);
});

test("a command that joins never leads, but what it reads is not freed", async () => {
  const ends = new FrontEnds();
  const guest = await ends.add(false);
  await ends.pass(2 * LEASE_MS);
  assert.equal(guest.frontEnd.isSweeper, false);
  const other = await ends.add();
  await ends.pass(BEAT_MS);
  assert.deepEqual([guest.frontEnd.isSweeper, other.frontEnd.isSweeper], [false, true]);
  const unpin = guest.frontEnd.pin();
  const died = await other.store.transact((tx) => tx.stamp());
  await ends.pass(LEASE_MS);
  assert.equal(other.frontEnd.isUnread(died), false);
  unpin();
  await ends.pass(3 * BEAT_MS);
  assert.equal(other.frontEnd.isUnread(died), true);
});

test("nothing is written for a leader that another one has followed", async () => {
  const ends = new FrontEnds();
  const [old, next] = [await ends.add(), await ends.add()];
  await ends.pass(LEASE_MS, [next]);
  // The old leader does not know of it: it was stopped all the time.
  await assert.rejects(old.leaderStore.transact(write), NotLeader);
  assert.equal(await isWritten(ends.records), false);
  await next.leaderStore.transact(write);
  assert.equal(await isWritten(ends.records), true);
});

test("a front end that is out of touch is ended, and writes nothing from then on", async () => {
  const ends = new FrontEnds();
  const [leader, lost] = [await ends.add(), await ends.add()];
  await ends.pass(LEASE_MS);
  await ends.pass(LEASE_MS - BEAT_MS, [leader]);
  await lost.store.transact((tx) => tx.delete(KEY));
  assert.deepEqual(leader.frontEnd.ended, []);
  await ends.pass(2 * BEAT_MS, [leader]);
  assert.deepEqual(leader.frontEnd.ended, [lost.frontEnd.number]);
  assert.deepEqual([...leader.frontEnd.epochs], [leader.frontEnd.epoch]);
  await assert.rejects(lost.store.transact(write), /out of touch/);
  assert.equal(await isWritten(ends.records), false);
  await lost.frontEnd.beat();
  assert.equal(lost.ends.length, 1, "one call for one loss");
});

test("after an outage for all, each front end gets a lease's time to come back", async () => {
  const ends = new FrontEnds();
  const all = [await ends.add(), await ends.add(), await ends.add()];
  await ends.pass(2 * LEASE_MS);
  for (const { outage } of all) outage.isOut = true;
  await ends.pass(10 * LEASE_MS);
  for (const { outage } of all) outage.isOut = false;
  const [first, second, third] = all;
  if (first === undefined || second === undefined || third === undefined) return assert.fail();
  await ends.pass(LEASE_MS - BEAT_MS, [second]);
  await ends.pass(LEASE_MS, [first, second]);
  await first.store.transact(write);
  assert.deepEqual(first.frontEnd.ended, [third.frontEnd.number]);
  assert.deepEqual(first.ends, []);
});

test("after an outage that the leader's lease outlasts, those of the others may be over", async () => {
  const ends = new FrontEnds();
  const [leader, other] = [await ends.add(), await ends.add()];
  await ends.pass(2 * LEASE_MS);
  await ends.pass(BEAT_MS - 1, [leader]);
  for (const { outage } of ends.all) outage.isOut = true;
  await ends.pass(LEASE_MS - BEAT_MS + 2);
  for (const { outage } of ends.all) outage.isOut = false;
  await leader.frontEnd.beat();
  assert.deepEqual([leader.frontEnd.isSweeper, leader.frontEnd.ended], [true, []]);
  await other.store.transact(write);
  await other.frontEnd.beat();
  assert.deepEqual(other.ends, []);
});

test("one that cannot renew gives up its clients before its lease ends, then begins anew", async () => {
  const ends = new FrontEnds();
  const [leader, other] = [await ends.add(), await ends.add()];
  await ends.pass(2 * LEASE_MS);
  const { epoch } = other.frontEnd;
  let lapses = 0;
  other.frontEnd.onLapse(() => lapses++);
  other.outage.isOut = true;
  await ends.pass(LEASE_MS - LAPSE_MARGIN_MS - 1);
  assert.equal(lapses, 0);
  await ends.pass(1);
  assert.equal(lapses, 1);
  assert.ok(leader.frontEnd.epochs.has(epoch), "the handles of its clients are there till then");
  other.outage.isOut = false;
  const isUnreachable = (error: unknown) => error instanceof StoreError;
  assert.throws(() => other.frontEnd.epochToOpenIn(), isUnreachable, "a handle would be ended");
  await ends.pass(1);
  assert.ok(other.frontEnd.epoch > epoch);
  assert.equal(other.frontEnd.epochToOpenIn(), other.frontEnd.epoch);
  await leader.frontEnd.beat();
  assert.ok(!leader.frontEnd.epochs.has(epoch));
  assert.ok(leader.frontEnd.epochs.has(other.frontEnd.epoch));
});

test("a front end that leaves is followed at once", async () => {
  const ends = new FrontEnds();
  const [leader, other] = [await ends.add(), await ends.add()];
  await leader.frontEnd.leave();
  await other.frontEnd.beat();
  assert.equal(other.frontEnd.isSweeper, true);
  assert.deepEqual(other.frontEnd.ended, [leader.frontEnd.number]);
  await assert.rejects(leader.store.transact(write), /out of touch/);
  assert.deepEqual(leader.ends, [], "it has left by itself");
});

test("what died is unread once the calls and readings of all front ends that saw it are over", async () => {
  const ends = new FrontEnds();
  const [leader, reader] = [await ends.add(), await ends.add()];
  const beats = async () => {
    for (let round = 0; round < 3; round++) await ends.pass(BEAT_MS);
  };
  await beats();
  const pinned = (view: View) => {
    const unpin = reader.frontEnd.pin();
    view.onDiscard(unpin);
    return unpin;
  };
  const release = await reader.store.read(pinned);
  await beats();
  const died = await leader.store.transact((tx) => tx.stamp());
  await beats();
  assert.equal(leader.frontEnd.isUnread(died), false);
  let isUnread = false;
  const unread = leader.frontEnd.unread().then(() => {
    isUnread = true;
  });
  await beats();
  assert.equal(isUnread, false);
  const late = await reader.store.read(pinned);
  release();
  await beats();
  assert.equal(leader.frontEnd.isUnread(died), true, "a later reading does not matter");
  await unread;
  late();
});

test("a call that takes long counts as a reading of the state that it began with", async () => {
  const ends = new FrontEnds();
  const [leader, reader] = [await ends.add(), await ends.add()];
  let answer: () => void = () => {};
  const slow = reader.frontEnd.during(async (inBody) => {
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return inBody(() => reader.frontEnd.pin())(null);
  });
  const died = await leader.store.transact((tx) => tx.stamp());
  await ends.pass(5 * BEAT_MS);
  assert.equal(leader.frontEnd.isUnread(died), false);
  answer();
  const release = await slow;
  await ends.pass(5 * BEAT_MS);
  assert.equal(leader.frontEnd.isUnread(died), false, "what it pinned is as old as the call");
  release();
  await ends.pass(5 * BEAT_MS);
  assert.equal(leader.frontEnd.isUnread(died), true);
});
