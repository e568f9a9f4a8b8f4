import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
// tidy-allow sleep: only asking tells what a front end knows of its database
import { setTimeout as wait } from "node:timers/promises";
import { BlobServiceClient, newPipeline, type RequestPolicyFactory } from "@azure/storage-blob";
import {
  PostgresServer,
  skipWithoutOwnPostgres,
} from "../../src/engine/postgres/postgres-server.fixture.ts";
import { SERVICES } from "../../src/main/flags.ts";
import { someBytes } from "../../src/store/bodies.fixture.ts";
import { skipWithoutDebianProgram } from "../programs/debian-program.ts";
import { CREDENTIAL } from "../sdk/server.ts";
import { FrontEnd } from "./front-ends.ts";
import { checkShipped, Haproxy } from "./haproxy.ts";

const skip = skipWithoutOwnPostgres() ?? skipWithoutDebianProgram("haproxy", "haproxy") ?? false;

const WRITERS = 6;
const ASK_AGAIN_MS = 50;

async function bed(t: TestContext, ...flags: string[]) {
  const folder = mkdtempSync(join(tmpdir(), "lazuli-rolling-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const server = await PostgresServer.start();
  t.after(() => server.remove());
  const args = ["--records", server.url(), "--bytes", join(folder, "bytes"), ...flags];
  const all = await Promise.all([1, 2, 3].map(() => FrontEnd.plan(args)));
  t.after(() => Promise.all(all.map((frontEnd) => frontEnd.kill())));
  await Promise.all(all.map((frontEnd) => frontEnd.start()));
  return { folder, server, all };
}

test("a rolling restart of three front ends behind haproxy fails no request", {
  skip,
}, async (t) => {
  // Longer than any machine takes to notice: the test ends the delay itself.
  const { folder, all } = await bed(t, "--stopDelay", "3600");
  const ports = all.map((frontEnd) => frontEnd.ports);
  assert.equal(await checkShipped(folder, ports), "");
  const balancer = await Haproxy.start(folder, ports);
  t.after(() => balancer.stop());
  for (const number of [1, 2, 3]) await balancer.becomes(number, "UP");
  const url = `${balancer.origins.get(SERVICES.blob.port)}/devstoreaccount1`;
  const load = new Load(url);
  await load.begin();
  for (const [at, frontEnd] of all.entries()) {
    const retired = frontEnd.stop();
    await balancer.becomes(at + 1, "DOWN");
    await balancer.leaves(at + 1);
    frontEnd.signal("SIGTERM");
    assert.equal(await retired, 1, "a second signal ends it at once");
    await frontEnd.start();
    await balancer.becomes(at + 1, "UP");
  }
  const requests = await load.end();
  assert.deepEqual(load.failures, []);
  assert.ok(requests > 50, `${requests} requests`);
});

/**
 * Opens a connection for each request. Whether a client notices in time that an idle connection was
 * closed is a race that no server can win.
 */
const CLOSES: RequestPolicyFactory = {
  create: (next) => ({
    sendRequest: (request) => {
      request.headers.set("connection", "close");
      return next.sendRequest(request);
    },
  }),
};

/** Clients that never retry: each failed request counts. */
class Load {
  readonly failures: string[] = [];
  readonly #clients: readonly BlobServiceClient[];
  #requests = 0;
  #isOver = false;
  #writers: Promise<void>[] = [];

  constructor(url: string) {
    this.#clients = Array.from({ length: WRITERS }, () => {
      const pipeline = newPipeline(CREDENTIAL, { retryOptions: { maxTries: 1 } });
      pipeline.factories.unshift(CLOSES);
      return new BlobServiceClient(url, pipeline);
    });
  }

  async begin(): Promise<void> {
    await this.#clients[0]?.getContainerClient("box").create();
    this.#writers = this.#clients.map((client, at) => this.#write(client, at));
  }

  /** Returns how many requests there were. */
  async end(): Promise<number> {
    this.#isOver = true;
    await Promise.all(this.#writers);
    return this.#requests;
  }

  async #write(client: BlobServiceClient, at: number): Promise<void> {
    const blob = client.getContainerClient("box").getBlockBlobClient(`blob-${at}`);
    for (let count = 0; !this.#isOver; count++) {
      // In the record, and in a file of its own.
      const bytes = someBytes(count % 2 === 0 ? 1_000 : 40_000, count);
      try {
        await blob.upload(bytes, bytes.length);
        this.#requests++;
        const read = await blob.downloadToBuffer();
        this.#requests++;
        if (!read.equals(bytes)) this.failures.push(`other bytes than were written`);
      } catch (error) {
        this.failures.push(`${error}`);
      }
    }
  }
}

test("a front end is alive without its database, but not ready; then ready again", {
  skip,
}, async (t) => {
  const { folder, all, server } = await bed(t);
  const [one] = all as [FrontEnd, ...FrontEnd[]];
  const ask = async (query = "") => {
    const answer = await fetch(`${one.origin("blob")}/healthz${query}`);
    return `${answer.status} ${await answer.text()}`;
  };
  const becomes = async (wanted: RegExp) => {
    while (!wanted.test(await ask("?for=requests"))) await wait(ASK_AGAIN_MS);
  };
  assert.equal(await ask("?for=requests"), "200 ok\n");
  await server.kill();
  await becomes(/^503 not ready: the database: .*cannot be reached/);
  assert.match(await ask(), /^200 not ready: the database/);
  assert.match(await ask("?for=writes"), /^503 /);
  await server.resume();
  await becomes(/^200 ok/);
  rmSync(join(folder, "bytes", "lazuli-cluster"));
  await becomes(/^503 not ready: the folder of bytes: ENOENT/);
});
