import assert from "node:assert/strict";
import { test } from "node:test";
import { WriteQueue } from "./write-queue.ts";

const MIB = 1024 * 1024;

/** Writes that end when they are told to. */
class HandDisk {
  readonly writes: {
    position: number;
    bytes: number;
    durably: boolean;
    end: (error?: Error) => void;
  }[] = [];
  readonly queue = new WriteQueue(
    (parts, position, durably) =>
      new Promise((resolve, reject) => {
        const bytes = parts.reduce((sum, part) => sum + part.length, 0);
        const end = (error?: Error) => (error === undefined ? resolve() : reject(error));
        this.writes.push({ position, bytes, durably, end });
      }),
  );

  write(position: number, bytes: number, durably = false): Promise<void> {
    return this.queue.write(Buffer.alloc(bytes), position, durably);
  }

  /** Ends the oldest write, and waits for what follows from that. */
  async end(error?: Error): Promise<void> {
    this.writes.shift()?.end(error);
    await this.turn();
  }

  turn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  get seen(): [position: number, bytes: number][] {
    return this.writes.map(({ position, bytes }) => [position, bytes]);
  }
}

test("writes of one turn of the event loop that are next to each other go together", async () => {
  const disk = new HandDisk();
  const all = [disk.write(0, 10), disk.write(50, 10), disk.write(10, 10), disk.write(20, 5)];
  await disk.turn();
  assert.deepEqual(disk.seen, [
    [0, 25],
    [50, 10],
  ]);
  await disk.end();
  await disk.end();
  await Promise.all(all);
});

test("so do those that come while others are written", async () => {
  const disk = new HandDisk();
  const all = [disk.write(0, 10), disk.write(100, 10)];
  await disk.turn();
  for (const position of [110, 200, 120, 130]) {
    all.push(disk.write(position, 10));
    await disk.turn();
  }
  assert.equal(disk.seen.length, 2);
  await disk.end();
  assert.deepEqual(disk.seen, [
    [100, 10],
    [110, 30],
  ]);
  await disk.end();
  await disk.end();
  assert.deepEqual(disk.seen, [[200, 10]]);
  await disk.end();
  await Promise.all(all);
});

test("a group has an end", async () => {
  const disk = new HandDisk();
  const all = [disk.write(0, 2 * MIB), disk.write(2 * MIB, 2 * MIB), disk.write(4 * MIB, 1)];
  await disk.turn();
  assert.deepEqual(disk.seen, [
    [0, 4 * MIB],
    [4 * MIB, 1],
  ]);
  await disk.end();
  await disk.end();
  await Promise.all(all);
});

test("of a group that fails, each is tried alone, and fails alone", async () => {
  const disk = new HandDisk();
  const [sound, broken] = [disk.write(20, 10), disk.write(30, 10)];
  await disk.turn();
  assert.deepEqual(disk.seen, [[20, 20]]);
  await disk.end(new Error("full"));
  assert.deepEqual(disk.seen, [[20, 10]]);
  await disk.end();
  assert.deepEqual(disk.seen, [[30, 10]]);
  const refused = assert.rejects(broken as Promise<void>, /full/);
  await disk.end(new Error("full"));
  await Promise.all([sound, refused]);
});

test("a group is durable if one of its writes is to be", async () => {
  const disk = new HandDisk();
  const all = [disk.write(0, 10), disk.write(10, 10, true), disk.write(50, 10)];
  await disk.turn();
  assert.deepEqual(
    disk.writes.map(({ durably }) => durably),
    [true, false],
  );
  await disk.end();
  await disk.end();
  await Promise.all(all);
});
