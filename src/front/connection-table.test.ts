import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionTable, type Counted, networkOf } from "./connection-table.ts";

class Connection implements Counted {
  isClosed = false;
  readonly remoteAddress: string;
  idleRank: number | null;

  constructor(remoteAddress = "127.0.0.1", idleRank: number | null = 0) {
    this.remoteAddress = remoteAddress;
    this.idleRank = idleRank;
  }

  close(): void {
    this.isClosed = true;
  }
}

function tableOf(connectionsMax: number, connectionsPerAddressMax = connectionsMax) {
  return new ConnectionTable<Connection>({ connectionsMax, connectionsPerAddressMax });
}

test("the least recently used idle connection makes room for a new one", () => {
  const table = tableOf(3);
  const [first, second, third] = [new Connection(), new Connection(), new Connection()];
  for (const one of [first, second, third]) assert.equal(table.add(one), true);
  table.rested(first);
  second.idleRank = null;
  assert.equal(table.add(new Connection()), true);
  assert.deepEqual([first.isClosed, second.isClosed, third.isClosed], [false, false, true]);
  assert.equal(table.add(new Connection()), true);
  assert.deepEqual([first.isClosed, second.isClosed], [true, false]);
});

test("if no connection idles, a new one is surplus, and counts until it is closed", () => {
  const table = tableOf(1);
  const busy = new Connection("127.0.0.1", null);
  assert.equal(table.add(busy), true);
  const surplus = new Connection("127.0.0.1", null);
  assert.equal(table.add(surplus), false);
  table.remove(busy);
  assert.equal(table.add(new Connection()), false);
  assert.equal(busy.isClosed || surplus.isClosed, false);
});

test("an idle connection of lower rank is closed first, even if it idles for less time", () => {
  const table = tableOf(2);
  const [known, stranger] = [new Connection("10.0.0.1", 1), new Connection("10.0.0.2", 0)];
  for (const one of [known, stranger]) table.add(one);
  table.add(new Connection());
  assert.deepEqual([known.isClosed, stranger.isClosed], [false, true]);
});

test("each address has a limit, and closes its own idle connections to keep it", () => {
  const table = tableOf(100, 2);
  const [first, second] = [new Connection("10.0.0.1"), new Connection("10.0.0.1")];
  const other = new Connection("10.0.0.2");
  for (const one of [first, other, second]) assert.equal(table.add(one), true);
  const third = new Connection("10.0.0.1");
  assert.equal(table.add(third), true);
  assert.deepEqual([first.isClosed, second.isClosed, other.isClosed], [true, false, false]);
  second.idleRank = null;
  third.idleRank = null;
  assert.equal(table.add(new Connection("10.0.0.1", null)), false);
  assert.equal(table.add(new Connection("10.0.0.3")), true);
  // Connections of this machine are not counted.
  for (let more = 0; more < 10; more++) assert.equal(table.add(new Connection("::1")), true);
});

test("a connection that is removed or replaced is counted once", () => {
  const table = tableOf(10, 1);
  const [old, next] = [new Connection("10.0.0.1", null), new Connection("10.0.0.1", null)];
  table.add(old);
  table.replace(old, next);
  assert.deepEqual([...table], [next]);
  table.remove(old);
  table.remove(next);
  table.remove(next);
  assert.equal(table.add(new Connection("10.0.0.1")), true);
});

test("the network of an IPv6 address counts as one address", () => {
  assert.equal(networkOf("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2");
  assert.equal(networkOf("2001:db8::6"), "2001:db8:0:0");
  assert.equal(networkOf("fe80::1:2:3:4"), "fe80:0:0:0");
  assert.equal(networkOf("10.1.2.3"), "10.1.2.3");
  for (const own of ["127.0.0.1", "127.9.9.9", "::1", ""]) assert.equal(networkOf(own), null);
});

test("other limits are for the next connections: those that are there stay", () => {
  const table = tableOf(9, 1);
  const busy = (address: string) => new Connection(address, null);
  assert.deepEqual([table.add(busy("10.0.0.1")), table.add(busy("10.0.0.1"))], [true, false]);
  table.limits = { connectionsMax: 9, connectionsPerAddressMax: 3 };
  assert.equal(table.add(busy("10.0.0.1")), true);
  table.limits = { connectionsMax: 9, connectionsPerAddressMax: 1 };
  assert.equal(table.add(busy("10.0.0.1")), false);
  assert.ok([...table].every(({ isClosed }) => !isClosed));
});
