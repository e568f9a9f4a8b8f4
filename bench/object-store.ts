// Measures extents in an object store against the bare client on the same server, in turns.
// `LAZULI_TEST_S3=http://key:secret@host node dist/bench/object-store.js`; without the variable it
// starts Ceph's radosgw, as the tests do.
import { AwsClient } from "aws4fetch";
import { wholeBody } from "../src/base/bytes.ts";
import { MIB } from "../src/base/limits.ts";
import { S3Extents } from "../src/engine/s3/extents.ts";
import type { S3Place } from "../src/engine/s3/s3-place.ts";
import { Machine } from "../src/machine/machine.ts";
import { gather, inParts, someBytes } from "../src/store/bodies.fixture.ts";
import type { Address } from "../src/store/extents.ts";
import { objectsAt, skipWithoutObjectStore, startObjectStore } from "../test/s3/object-store.ts";

const ROUNDS = 5;
const LARGE = someBytes(100 * MIB, 1);
const SMALL = someBytes(4_096, 2);
const WRITERS = [1, 16, 64];
const SMALL_MS = 3_000;

const skip = skipWithoutObjectStore();
if (skip !== null) console.log(skip);
else await measure();

async function measure(): Promise<void> {
  const store = await startObjectStore();
  const machine = new Machine();
  try {
    const place = store.newPlace();
    const { extents: objects } = await objectsAt(place);
    const extents = new S3Extents({ objects, machine, frontEnd: 1 });
    await measureLarge(place, extents);
    await measureSmall(place, extents);
    await extents.close();
  } finally {
    await machine.close();
    await store.stop();
  }
}

/** 100 MiB in one request of the bare client, and as an extent, in turns. */
async function measureLarge(place: S3Place, extents: S3Extents): Promise<void> {
  const bare = bareClient(place);
  const times = { bareUp: [], up: [], bareDown: [], down: [] } as Record<string, number[]>;
  for (let round = 0; round < ROUNDS; round++) {
    let at: readonly Address[] = [];
    await timed(times.bareUp, () => bare.put(`large-${round}`, LARGE));
    await timed(times.up, async () => {
      const written = await extents.write(inParts(LARGE, 64 * 1024));
      at = written.addresses;
      written.release();
    });
    await timed(times.bareDown, () => bare.get(`large-${round}`));
    await timed(times.down, async () => {
      for (const piece of at) await gather(extents.read(piece, 0, piece.length));
    });
    for (const { extent } of at) await extents.remove(extent);
    await bare.delete(`large-${round}`);
  }
  const row = (name: string, own: string, other: string) => {
    const [ours, theirs] = [median(times[own]), median(times[other])];
    console.log(
      `100 MiB ${name}: ${mibPerSecond(ours)} as an extent, ${mibPerSecond(theirs)} bare`,
    );
    console.log(`  ${(ours / theirs).toFixed(2)} times as long`);
  };
  row("up", "up", "bareUp");
  row("down", "down", "bareDown");
}

/** Bodies of 4 KiB by several writers: an object each with the bare client, gathered as extents. */
async function measureSmall(place: S3Place, extents: S3Extents): Promise<void> {
  const bare = bareClient(place);
  let count = 0;
  for (const writers of WRITERS) {
    const single = await perSecond(writers, () => bare.put(`small-${++count}`, SMALL));
    const before = extents.lastExtent;
    const begun = performance.now();
    const gathered = await perSecond(writers, async () => {
      (await extents.write(wholeBody(SMALL))).release();
    });
    const bodies = (gathered * (performance.now() - begun)) / 1_000;
    const each = bodies / (extents.lastExtent - before);
    console.log(
      `4 KiB, ${writers} writers: ${gathered.toFixed(0)}/s gathered (${each.toFixed(1)} an object), ` +
        `${single.toFixed(0)}/s bare`,
    );
  }
}

function bareClient(place: S3Place) {
  const { accessKeyId, secretAccessKey } = place.credentials;
  const client = new AwsClient({
    accessKeyId,
    secretAccessKey,
    region: place.region,
    service: "s3",
  });
  const send = async (name: string, init: RequestInit) => {
    const url = `${place.endpoint.href}${place.bucket}/${place.prefix}bare/${name}`;
    const answer = await client.fetch(url, init);
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
  };
  return {
    put: (name: string, body: Buffer) => send(name, { method: "PUT", body }),
    get: (name: string) => send(name, { method: "GET" }),
    delete: (name: string) => send(name, { method: "DELETE" }),
  };
}

async function perSecond(writers: number, write: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  let done = 0;
  const writer = async () => {
    for (; performance.now() - begun < SMALL_MS; done++) await write();
  };
  await Promise.all(Array.from({ length: writers }, writer));
  return (done * 1_000) / (performance.now() - begun);
}

async function timed(times: number[] | undefined, work: () => Promise<void>): Promise<void> {
  const begun = performance.now();
  await work();
  times?.push(performance.now() - begun);
}

function median(times: readonly number[] = []): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

function mibPerSecond(ms: number): string {
  return `${(100_000 / ms).toFixed(0)} MiB/s`;
}
