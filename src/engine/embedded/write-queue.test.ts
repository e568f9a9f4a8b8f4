import assert from "node:assert/strict";
import { test } from "node:test";
import { PAGE_BYTES } from "../../machine/aligned-bytes.ts";
import { WriteQueue } from "./write-queue.ts";

/** The most pages of one group. */
const MANY_PAGES = 1024;

/** A disk whose writes end when the test ends them. Counts in pages. */
class ManualDisk {
  readonly writes: {
    position: number;
    pages: number;
    durably: boolean;
    end: (error?: Error) => void;
  }[] = [];
  readonly queue = new WriteQueue(
    (parts, position, durably) =>
      new Promise((resolve, reject) => {
        const bytes = parts.reduce((sum, { length }) => sum + length, 0);
        const end = (error?: Error) => (error === undefined ? resolve() : reject(error));
        const pages = bytes / PAGE_BYTES;
        this.writes.push({ position: position / PAGE_BYTES, pages, durably, end });
      }),
  );

  write(position: number, pages: number, durably = false): Promise<void> {
    const bytes = Buffer.alloc(pages * PAGE_BYTES);
    return new Promise((written, failed) =>
      this.queue.write(bytes, position * PAGE_BYTES, durably, { written, failed }),
    );
  }

  /** Ends the oldest write, and waits for the next iteration of the event loop. */
  async end(error?: Error): Promise<void> {
    this.writes.shift()?.end(error);
    await this.nextIteration();
  }

  nextIteration(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  get seen(): [position: number, pages: number][] {
    return this.writes.map(({ position, pages }) => [position, pages]);
  }
}

test("adjacent writes of one iteration of the event loop are merged", async () => {
  const disk = new ManualDisk();
  const all = [disk.write(0, 10), disk.write(50, 10), disk.write(10, 10), disk.write(20, 5)];
  await disk.nextIteration();
  assert.deepEqual(disk.seen, [
    [0, 25],
    [50, 10],
  ]);
  await disk.end();
  await disk.end();
  await Promise.all(all);
});

test("adjacent writes that arrive while others are being written are merged", async () => {
  const disk = new ManualDisk();
  const all = [disk.write(0, 10), disk.write(100, 10)];
  await disk.nextIteration();
  for (const position of [110, 200, 120, 130]) {
    all.push(disk.write(position, 10));
    await disk.nextIteration();
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

test("the size of a group is limited", async () => {
  const disk = new ManualDisk();
  const all = [
    disk.write(0, MANY_PAGES / 2),
    disk.write(MANY_PAGES / 2, MANY_PAGES / 2),
    disk.write(MANY_PAGES, 1),
  ];
  await disk.nextIteration();
  assert.deepEqual(disk.seen, [
    [0, MANY_PAGES],
    [MANY_PAGES, 1],
  ]);
  await disk.end();
  await disk.end();
  await Promise.all(all);
});

test("the writes of a failed group are retried one by one, and fail alone", async () => {
  const disk = new ManualDisk();
  const [sound, broken] = [disk.write(20, 10), disk.write(30, 10)];
  await disk.nextIteration();
  assert.deepEqual(disk.seen, [[20, 20]]);
  await disk.end(new Error("full"));
  assert.deepEqual(disk.seen, [[20, 10]]);
  await disk.end();
  assert.deepEqual(disk.seen, [[30, 10]]);
  const refused = assert.rejects(broken as Promise<void>, /full/);
  await disk.end(new Error("full"));
  await Promise.all([sound, refused]);
});

test("small bodies do not wait for all large ones, nor large ones for all small ones", async () => {
  const disk = new ManualDisk();
  const large = [0, 100, 200, 300, 400].map((position) => disk.write(position, 10));
  const small = [500, 600, 700].map((position) => disk.write(position, 1, true));
  await disk.nextIteration();
  const order: number[] = [];
  while (disk.seen.length > 0) {
    order.push((disk.seen[0] as [number, number])[0]);
    await disk.end();
  }
  assert.deepEqual(order, [500, 0, 600, 100, 700, 200, 300, 400]);
  await Promise.all([...large, ...small]);
});

test("a group is durable if one of its writes must be", async () => {
  const disk = new ManualDisk();
  const writes = [[90, true], [0], [10, true], [50]] as [number, boolean?][];
  const all = writes.map(([position, durably]) => disk.write(position, 10, durably));
  await disk.nextIteration();
  assert.deepEqual(disk.seen, [
    [90, 10],
    [0, 20],
  ]);
  assert.ok(disk.writes.every(({ durably }) => durably));
  await disk.end();
  assert.equal(disk.writes.at(-1)?.durably, false);
  await disk.end();
  await disk.end();
  await Promise.all(all);
});
