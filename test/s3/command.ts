import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
// tidy-allow sleep: only asking tells what a server knows of its bucket
import { setTimeout as wait } from "node:timers/promises";
import { BlobServiceClient } from "@azure/storage-blob";
import { MIB } from "../../src/base/limits.ts";
import {
  PostgresServer,
  skipWithoutOwnPostgres,
} from "../../src/engine/postgres/postgres-server.fixture.ts";
import type { S3Place } from "../../src/engine/s3/s3-place.ts";
import { s3Url } from "../../src/engine/s3/s3-place.ts";
import { someBytes } from "../../src/store/bodies.fixture.ts";
import { freePort } from "../command/free-ports.ts";
import { LazuliProcess } from "../command/process.ts";
import { CREDENTIAL } from "../sdk/server.ts";
import { always, FaultProxy } from "./fault-proxy.ts";
import { type ObjectStore, objectsAt } from "./object-store.ts";
import { namesAt } from "./s3-bed.ts";

const ASK_AGAIN_MS = 50;

/** In blocks of their own. */
const BLOCKS = { blockSize: 4 * MIB, maxSingleShotSize: 4 * MIB };

/** The real process, with its bytes in a real bucket. */
export function commandTests(store: ObjectStore): void {
  test("a server stores large bodies in a bucket, and finds them after a restart", async (t) => {
    const place = store.newPlace();
    const folder = await newFolder(t);
    const [small, large] = [someBytes(20_000, 1), someBytes(9 * MIB, 2)];
    await withServer(folder, place, async (container) => {
      await container.create();
      await container.getBlockBlobClient("small").upload(small, small.length);
      await container.getBlockBlobClient("large").uploadData(large, BLOCKS);
    });
    const { objects } = await objectsAt(place);
    t.after(() => objects.close());
    // Both bodies, the second one in three blocks, and the mark of the records.
    assert.equal((await namesAt({ objects, place })).length, 5);
    await withServer(folder, place, async (container) => {
      const read = (name: string) => container.getBlobClient(name).downloadToBuffer();
      assert.deepEqual(await read("small"), small);
      assert.ok((await read("large")).equals(large));
    });
    const sound = await run(["verify", ...flagsOf(folder, place)], place);
    assert.deepEqual([sound.code, sound.out.includes("All is well")], [0, true], sound.err);

    const names = (await namesAt({ objects, place })).filter((name) => name.startsWith("extents"));
    await objects.delete(`${place.prefix}${names[0]}`);
    const damaged = await run(["verify", ...flagsOf(folder, place)], place);
    assert.equal(damaged.code, 3);
    assert.match(damaged.out, /^damaged: .*box\/small/m);
  });

  test("records without their bucket, or with another one, are refused", async (t) => {
    const place = store.newPlace();
    const folder = await newFolder(t);
    await withServer(folder, place, async (container) => {
      await container.create();
    });
    await refused(["--location", folder], place, /are in an object store: name it with --bytes/);
    const other = store.newPlace();
    await refused(flagsOf(folder, other), other, /does not have the bytes of these records: name/);
    const fresh = await newFolder(t);
    await refused(flagsOf(fresh, place), place, /has the bytes of other records: choose another/);

    const local = await newFolder(t);
    await withServer(local, null, async (container) => {
      await container.create();
      const bytes = someBytes(20_000, 1);
      await container.getBlockBlobClient("here").upload(bytes, bytes.length);
    });
    await refused(flagsOf(local, other), other, /bodies .* are in a folder: leave out --bytes/);
  });

  const noPostgres = skipWithoutOwnPostgres() ?? false;
  test("front ends share a database and a bucket", { skip: noPostgres }, async (t) => {
    const postgres = await PostgresServer.start();
    t.after(() => postgres.remove());
    const place = store.newPlace();
    const [, , ...flags] = flagsOf("", place);
    const records = postgres.url();
    const shared = ["--records", records, ...flags];
    const boxes = await Promise.all(
      [1, 2].map(async () => {
        const lazuli = new LazuliProcess([...shared, ...PORTS], keysOf(place));
        t.after(() => lazuli.kill());
        return new BlobServiceClient(await lazuli.urlOf("Blob"), CREDENTIAL).getContainerClient(
          "box",
        );
      }),
    );
    const [here, there] = boxes as [Container, Container];
    await here.create();
    for (const length of [20_000, 9 * MIB]) {
      const bytes = someBytes(length, length);
      await here.getBlockBlobClient("blob").uploadData(bytes, BLOCKS);
      assert.ok((await there.getBlobClient("blob").downloadToBuffer()).equals(bytes));
      await there.getBlobClient("blob").delete();
    }
    const folder = ["--records", records, "--bytes", await newFolder(t)];
    await refused(folder, place, /bodies .* are in an object store: name it with --bytes s3:/);
  });

  test("an object store that cannot be used is named in one line", async (t) => {
    const place = store.newPlace();
    const closed = await freePort();
    const { credentials } = place;
    const wrongId = { ...credentials, accessKeyId: "NOBODY" };
    const wrongSecret = { ...credentials, secretAccessKey: "wrong" };
    const nowhere = new URL(`http://127.0.0.1:${closed}`);
    const cases: [S3Place, RegExp][] = [
      [{ ...place, bucket: "no-such-bucket" }, /^There is no bucket "no-such-bucket" at http/],
      [{ ...place, credentials: wrongId }, /does not know the key NOBODY: check AWS_ACCESS/],
      [{ ...place, credentials: wrongSecret }, /refuses the secret of .*: check AWS_ACCESS/],
      [{ ...place, endpoint: nowhere }, /cannot be reached \(ECONNREFUSED\): check --s3Endpoint/],
    ];
    for (const [wrong, message] of cases) {
      const { err } = await refused(flagsOf(await newFolder(t), wrong), wrong, message);
      assert.ok(!err.includes(wrong.credentials.secretAccessKey), "no secret is printed");
    }
    const folder = await newFolder(t);
    const bytes = ["--location", folder, "--bytes"];
    await refused([...bytes, "s3://"], place, /names no bucket/, 2);
    await refused([...bytes, "bucket"], place, /^--bytes and --location contradict/, 2);
    await refused(["--bytes", "bucket"], place, /unless it is s3:\/\/bucket\/prefix: give/, 2);
    const noKeys = { AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "", HOME: folder };
    const ended = await run([...bytes, "s3://bucket"], place, noKeys);
    assert.match(ended.err, /^The object store needs a key: set AWS_ACCESS_KEY_ID and .*\n$/);
  });

  test("a server whose bucket cannot be reached is not ready, and says why", async (t) => {
    const place = store.newPlace();
    const proxy = await FaultProxy.start(place.endpoint);
    t.after(() => proxy.close());
    const through = { ...place, endpoint: proxy.endpoint };
    const flags = [...flagsOf(await newFolder(t), through), ...PORTS];
    const server = new LazuliProcess(flags, keysOf(place));
    t.after(() => server.kill());
    const { origin } = new URL(await server.urlOf("Blob"));
    const becomes = async (wanted: RegExp) => {
      for (;;) {
        const answer = await fetch(`${origin}/healthz?for=requests`);
        if (wanted.test(`${answer.status} ${await answer.text()}`)) return;
        await wait(ASK_AGAIN_MS);
      }
    };
    await becomes(/^200 ok/);
    proxy.plan = always({ kind: "answer", status: 503, body: "" });
    await becomes(/^503 not ready: the object store: s3:.* answered 503/);
    assert.equal((await fetch(`${origin}/healthz`)).status, 200);
    proxy.plan = () => null;
    await becomes(/^200 ok/);
  });

  test("the configuration file names a bucket, and its secret is not logged", async (t) => {
    const place = store.newPlace();
    const folder = await newFolder(t);
    const { accessKeyId, secretAccessKey } = place.credentials;
    const s3 = { endpoint: place.endpoint.href, accessKeyId, secretAccessKey };
    const config = join(folder, "lazuli.json");
    await writeFile(config, JSON.stringify({ bytes: s3Url(place), s3 }));
    const debug = join(folder, "debug.log");
    const flags = ["--location", join(folder, "data"), "--config", config, "--debug", debug];
    const server = new LazuliProcess([...flags, ...PORTS], { AWS_ACCESS_KEY_ID: "" });
    await server.urlOf("Blob");
    server.signal("SIGTERM");
    const { out, err } = await server.ended();
    const all = out + err + (await readFile(debug, "utf8"));
    assert.ok(!all.includes(secretAccessKey));
  });
}

const PORTS = ["--services", "blob", "--blobPort", "0"];

function flagsOf(folder: string, place: S3Place): string[] {
  return [
    ...["--location", folder, "--bytes", s3Url(place)],
    ...["--s3Endpoint", place.endpoint.href, "--s3Region", place.region],
  ];
}

function keysOf({ credentials }: S3Place): Record<string, string> {
  const { accessKeyId, secretAccessKey } = credentials;
  return { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
}

async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-s3-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

function run(args: readonly string[], place: S3Place, env: Record<string, string> = {}) {
  return new LazuliProcess(args, { ...keysOf(place), ...env }).ended();
}

async function refused(args: readonly string[], place: S3Place, message: RegExp, code = 1) {
  const ended = await run([...args, ...PORTS], place);
  assert.match(ended.err, message);
  assert.equal(ended.err.trimEnd().split("\n").length, 1, ended.err);
  assert.deepEqual([ended.code, ended.out], [code, ""]);
  return ended;
}

type Container = ReturnType<BlobServiceClient["getContainerClient"]>;

/** Runs a server on a folder, with its bytes at a place, if there is one. */
async function withServer(
  folder: string,
  place: S3Place | null,
  work: (container: Container) => Promise<void>,
): Promise<void> {
  const flags = place === null ? ["--location", folder] : flagsOf(folder, place);
  const server = new LazuliProcess([...flags, ...PORTS], place === null ? {} : keysOf(place));
  try {
    const client = new BlobServiceClient(await server.urlOf("Blob"), CREDENTIAL);
    await work(client.getContainerClient("box"));
    server.signal("SIGTERM");
    assert.equal((await server.ended()).code, 0);
  } finally {
    await server.kill();
  }
}
