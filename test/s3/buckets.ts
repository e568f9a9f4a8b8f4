import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
// tidy-allow sleep: only asking tells what a server knows of its buckets
import { setTimeout as wait } from "node:timers/promises";
import { BlobServiceClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import { MIB } from "../../src/base/limits.ts";
import {
  PostgresServer,
  skipWithoutOwnPostgres,
} from "../../src/engine/postgres/postgres-server.fixture.ts";
import { type S3Place, s3Url } from "../../src/engine/s3/s3-place.ts";
import { someBytes } from "../../src/store/bodies.fixture.ts";
import { succeeds } from "../command/backups.ts";
import { lazuli, RestServer, scratchFolder } from "../command/folder-server.ts";
import { always, FaultProxy } from "./fault-proxy.ts";
import { createBucket, type ObjectStore, objectsAt } from "./object-store.ts";
import { namesAt } from "./s3-bed.ts";

const ASK_AGAIN_MS = 50;
const ONCE = { retryOptions: { maxTries: 1 } };

/** Several databases, each with a bucket at an endpoint of its own. */
export function bucketTests(store: ObjectStore): void {
  const skip = skipWithoutOwnPostgres() ?? false;
  test("each database has its own bucket, endpoint and key; one away takes no other along", {
    skip,
  }, async (t) => {
    const postgres = await PostgresServer.start();
    t.after(() => postgres.remove());
    const east = store.newPlace();
    const west = { ...store.newPlace(), bucket: `lazuli-west-${randomBytes(4).toString("hex")}` };
    await createBucket(west);
    const proxy = await FaultProxy.start(west.endpoint);
    t.after(() => proxy.close());
    const places = [east, { ...west, endpoint: proxy.endpoint }];
    const accounts = ["shop", "logs"].map((name, at) => ({
      name,
      keys: [randomBytes(64).toString("base64")],
      database: at === 0 ? "east" : "west",
    }));
    const s3Of = ({ endpoint, region, credentials }: S3Place) => ({
      ...{ endpoint: endpoint.href, region },
      ...{ accessKeyId: credentials.accessKeyId, secretAccessKey: credentials.secretAccessKey },
    });
    const databases = places.map((place, at) => ({
      name: at === 0 ? "east" : "west",
      records: postgres.url(),
      bytes: s3Url(place),
      s3: s3Of(place),
    }));
    const config = join(scratchFolder(t), "lazuli.json");
    writeFileSync(config, JSON.stringify({ databases, accounts }));
    const noKeys = { AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "" };
    const server = new RestServer(t, ["--config", config], noKeys);
    const url = new URL(await server.process.urlOf("Blob"));
    const boxes = accounts.map(({ name, keys: [key = ""] }) => {
      const credential = new StorageSharedKeyCredential(name, key);
      return new BlobServiceClient(`${url.origin}/${name}`, credential, ONCE).getContainerClient(
        "box",
      );
    });
    const bodies = [someBytes(20_000, 1), someBytes(9 * MIB, 2)];
    const objectsOf = await Promise.all(
      [east, west].map(async (place) => {
        const { objects } = await objectsAt(place);
        t.after(() => objects.close());
        return { objects, place };
      }),
    );
    const counts = async () => (await Promise.all(objectsOf.map(namesAt))).map((all) => all.length);
    for (const [at, box] of boxes.entries()) {
      const before = await counts();
      await box.create();
      for (const body of bodies) await box.getBlockBlobClient(`b${body.length}`).uploadData(body);
      const added = (await counts()).map((count, one) => count - (before[one] ?? 0));
      assert.deepEqual(
        added.map((count) => count > 0),
        [at === 0, at === 1],
      );
      for (const body of bodies) {
        assert.ok((await box.getBlobClient(`b${body.length}`).downloadToBuffer()).equals(body));
      }
    }

    const [here, there] = boxes;
    const large = `b${9 * MIB}`;
    proxy.plan = always({ kind: "answer", status: 403, body: "" });
    const outage = async (database: string) =>
      (await fetch(`${url.origin}/healthz?for=requests&database=${database}`)).status;
    while ((await outage("west")) !== 503) await wait(ASK_AGAIN_MS);
    assert.equal(await outage("east"), 200);
    await assert.rejects(there?.getBlobClient(large).downloadToBuffer() ?? assert.fail());
    assert.ok((await here?.getBlobClient(large).downloadToBuffer())?.equals(bodies[1] as Buffer));
    proxy.plan = () => null;
    while ((await outage("west")) !== 200) await wait(ASK_AGAIN_MS);
    assert.ok((await there?.getBlobClient(large).downloadToBuffer())?.equals(bodies[1] as Buffer));

    // A backup of one of them, and a restore to a third bucket.
    const of = ["--config", config, "--database", "west"];
    const backups = join(scratchFolder(t), "backups");
    await succeeds("backup", backups, ...of);
    const fresh = store.newPlace();
    const again = { name: "again", records: postgres.url(), bytes: s3Url(fresh), s3: s3Of(fresh) };
    const restored = join(scratchFolder(t), "restored.json");
    const logs = { ...accounts[1], database: "again" };
    writeFileSync(restored, JSON.stringify({ databases: [again], accounts: [logs] }));
    await succeeds("restore", backups, "--config", restored);
    const other = new RestServer(t, ["--config", restored], noKeys);
    const at = `${new URL(await other.process.urlOf("Blob")).origin}/logs`;
    const credential = new StorageSharedKeyCredential("logs", logs.keys?.[0] ?? "");
    const box = new BlobServiceClient(at, credential, ONCE).getContainerClient("box");
    for (const body of bodies) {
      assert.ok((await box.getBlobClient(`b${body.length}`).downloadToBuffer()).equals(body));
    }

    assert.match(await succeeds("verify", ...of), /^All is well/m);
    const [, inWest] = objectsOf;
    const names = (await namesAt(inWest ?? assert.fail())).filter((name) =>
      name.startsWith("extents"),
    );
    await inWest?.objects.delete(`${west.prefix}${names[0]}`);
    const { code, out } = await lazuli("verify", ...of);
    assert.equal(code, 3);
    assert.match(out, /^damaged: blob .*box\/b\d+/m);
  });
}
