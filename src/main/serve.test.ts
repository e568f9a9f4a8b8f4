import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { key, keyAfter, SPACE } from "../base/keys.ts";
import { KIB } from "../base/limits.ts";
import { alignedBytes, PAGE_BYTES } from "../machine/aligned-bytes.ts";
import { OWNER } from "../rules/access.ts";
import { READ } from "../rules/share-mode.ts";
import { beginEpoch } from "../service/file/clear-handles.ts";
import { createShare } from "../service/file/create-share.ts";
import { NO_SETTINGS } from "../service/file/item-settings.ts";
import { openFile } from "../service/file/open-file.ts";
import type { StoreError } from "../store/store.ts";
import { ANY_PORTS } from "./any-ports.fixture.ts";
import { readCommandLine } from "./command-line.ts";
import { openData } from "./open-data.ts";
import { type Serving, serve } from "./serve.ts";
import { readSettings } from "./settings.ts";
import { StartError } from "./start-error.ts";
import type { Surroundings } from "./surroundings.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-"));
after(() => rmSync(scratch, { recursive: true }));

/** Surroundings whose scheduled callbacks run only when the test runs them. */
class Around implements Surroundings {
  readonly clock = systemClock;
  readonly software = "Lazuli/test";
  readonly lines: string[] = [];
  readonly due: (() => void)[] = [];
  readonly out = (line: string) => void this.lines.push(line);
  readonly err = (line: string) => void this.lines.push(line);
  readonly failStop = (error: StoreError) => void this.lines.push(error.message);
  readonly schedule = (callback: () => void) => {
    this.due.push(callback);
    return { cancel: () => void this.due.splice(0) };
  };
}

function settings(...args: string[]) {
  const asked = readCommandLine([...ANY_PORTS, ...args], {});
  assert.equal(asked.kind, "start");
  return readSettings((asked as Extract<typeof asked, { kind: "start" }>).options);
}

async function started(t: TestContext, around: Around, ...args: string[]): Promise<Serving> {
  const serving = await serve(settings(...args), around);
  t.after(() => serving.stop());
  return serving;
}

async function statusOf({ origins }: Serving): Promise<number> {
  return (await fetch(`${origins.get("blob")}/healthz`)).status;
}

test("a stopped server releases its port, its folder and its timers", async (t) => {
  const location = ["--location", join(scratch, "let-go")];
  const around = new Around();
  const first = await started(t, around, ...location);
  assert.equal(await statusOf(first), 200);
  assert.equal(around.due.length, 1);
  await first.stop();
  await assert.rejects(statusOf(first));
  assert.equal(around.due.length, 0);
  assert.equal(await statusOf(await started(t, new Around(), ...location)), 200);
});

test("starting and stopping 20 servers leaves no memory, server or timer behind", async () => {
  const kinds = /TCPServerWrap|Timeout/;
  const running = () => process.getActiveResourcesInfo().filter((kind) => kinds.test(kind)).length;
  // No pool has slabs of this size, so it is placed behind all that was ever allocated.
  const unusedPlace = () => alignedBytes(5 * PAGE_BYTES).byteOffset + 5 * PAGE_BYTES;
  const before = running();
  let place = 0;
  for (let round = 1; round <= 20; round++) {
    const serving = await serve(settings("--inMemoryPersistence"), new Around());
    const request = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    assert.match(await answerTo(serving.origins.get("blob") ?? "", request), /^HTTP\/1.1 200/);
    await serving.stop();
    if (round === 1) place = unusedPlace();
  }
  // A socket may give its memory back a little later than the server has stopped.
  assert.ok(unusedPlace() - place < 256 * KIB, `${unusedPlace() - place} bytes`);
  assert.ok(running() <= before, `${before} then ${running()}`);
});

test("--listener chooses the parser of every REST service", async (t) => {
  for (const [kind, code] of [
    ["own", "InvalidHttpVerb"],
    // Node's parser does not know the verb, and refuses it before the service is asked.
    ["node", undefined],
  ] as const) {
    const { origins } = await started(t, new Around(), "--inMemoryPersistence", "--listener", kind);
    for (const service of ["blob", "queue", "table", "file", "dfs"] as const) {
      const answer = await answerTo(
        origins.get(service) ?? "",
        "FROB / HTTP/1.1\r\nHost: x\r\n\r\n",
      );
      assert.match(answer, /^HTTP\/1\.1 400 /);
      assert.equal(/^x-ms-error-code: (\w+)/m.exec(answer)?.[1], code, `${kind} ${service}`);
    }
  }
});

function answerTo(origin: string, request: string): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    socket
      .setEncoding("latin1")
      .once("data", (text: string) => {
        socket.destroy();
        resolve(text);
      })
      .once("error", reject);
  });
}

test("with --stopDelay a server says that it stops, and serves until the delay is over", async (t) => {
  const around = new Around();
  const args = ["--inMemoryPersistence", "--stopDelay", "5", "--metricsPort", "0"];
  const serving = await started(t, around, ...args);
  const stopping = serving.stop();
  const ends = around.due.pop() ?? assert.fail("nothing waits");
  assert.equal(serving.stop(), stopping, "a second call waits for the first");
  const ask = async (url: string) => {
    const { status, headers } = await fetch(url);
    return [status, headers.get("connection")];
  };
  const blobs = serving.origins.get("blob") ?? "";
  assert.deepEqual(await ask(`${blobs}/healthz`), [503, "close"]);
  assert.equal((await ask(`${serving.metricsOrigin}/healthz`))[0], 503);
  assert.deepEqual(await ask(`${blobs}/devstoreaccount1/box/blob`), [404, "close"]);
  ends();
  await stopping;
  await assert.rejects(ask(`${blobs}/healthz`));
});

test("a start that fails leaves nothing open", async (t) => {
  const other = await started(t, new Around(), "--inMemoryPersistence");
  const taken = new URL(other.origins.get("blob") ?? "").port;
  const location = ["--location", join(scratch, "failed")];
  const around = new Around();
  await assert.rejects(started(t, around, ...location, "--blobPort", taken), StartError);
  assert.equal(around.due.length, 0);
  assert.equal(await statusOf(await started(t, new Around(), ...location)), 200);
});

test("metrics are off by default, and end with the server", async (t) => {
  const without = await started(t, new Around(), "--inMemoryPersistence");
  assert.equal(without.metricsOrigin, null);
  const around = new Around();
  const serving = await started(t, around, "--inMemoryPersistence", "--metricsPort", "0");
  const scrape = async () => (await fetch(`${serving.metricsOrigin}/metrics`)).status;
  assert.equal(await scrape(), 200);
  await serving.stop();
  await assert.rejects(scrape());
  assert.equal(around.due.length, 0);
});

test("the console ends with the server, and one that nobody opened needs no timer", async (t) => {
  const around = new Around();
  const serving = await started(t, around, "--inMemoryPersistence", "--consolePort", "0");
  const [origin = ""] = (serving.consoleAddress ?? "").split("#");
  const open = async () => (await fetch(origin)).status;
  assert.equal(await open(), 200);
  await serving.stop();
  await assert.rejects(open());
  assert.equal(around.due.length, 0);
  const without = await started(t, new Around(), "--inMemoryPersistence", "--noConsole");
  assert.equal(without.consoleAddress, null);
});

test("a second server takes another port for its console, unless a port was asked for", async (t) => {
  const first = await started(t, new Around(), "--inMemoryPersistence");
  const second = await started(t, new Around(), "--inMemoryPersistence");
  const { port } = new URL(first.consoleAddress ?? "");
  assert.notEqual(new URL(second.consoleAddress ?? "").port, port);
  const location = ["--location", join(scratch, "console")];
  await assert.rejects(started(t, new Around(), ...location, "--consolePort", port), {
    message:
      `The console cannot listen on 127.0.0.1, port ${port}: the port is in use. ` +
      "Stop the other program, or choose a port with --consolePort.",
  });
  assert.equal(await statusOf(await started(t, new Around(), ...location)), 200);
});

test("a metrics port that is taken is refused with what to do, and leaves nothing open", async (t) => {
  const other = await started(t, new Around(), "--inMemoryPersistence", "--metricsPort", "0");
  const { port } = new URL(other.metricsOrigin ?? "");
  const location = ["--location", join(scratch, "metrics")];
  await assert.rejects(started(t, new Around(), ...location, "--metricsPort", port), {
    message:
      `Metrics cannot listen on 127.0.0.1, port ${port}: the port is in use. ` +
      "Stop the other program, or choose a port with --metricsPort.",
  });
  assert.equal(await statusOf(await started(t, new Around(), ...location)), 200);
});

test("handles of an earlier process are closed before any request is served", async (t) => {
  const location = join(scratch, "handles");
  const place = { location, memoryBytesMax: null };
  const before = await openData(place, systemClock, () => {});
  const at = { account: "account", share: "share", snapshot: null };
  const share = { at, access: OWNER, metadata: [], quotaGib: 1 };
  await createShare(before, { ...share, tier: "TransactionOptimized" });
  await openFile(before, {
    at: { ...at, path: [], trailingDots: false },
    access: OWNER,
    disposition: "open",
    kind: "directory",
    mode: { access: READ, share: 0 },
    deletesOnClose: false,
    settings: NO_SETTINGS,
    opener: { epoch: await beginEpoch(before), sessionId: 1n, clientIp: "" },
    caching: null,
    persistent: null,
    looksAt: "contents",
  });
  await before.close();
  await (await started(t, new Around(), "--location", location)).stop();
  const after = await openData(place, systemClock, () => {});
  const all = key(SPACE.handle);
  assert.deepEqual(
    await after.store.read((view) => view.range(all, keyAfter(all), { limit: 1 })),
    [],
  );
  await after.close();
});

test("every service listens, and nothing else takes a port", async (t) => {
  const { origins } = await started(t, new Around(), "--inMemoryPersistence");
  assert.deepEqual([...origins.keys()], ["blob", "queue", "table", "file", "dfs", "smb"]);
});

test("only the services that are to be started listen", async (t) => {
  const all = settings("--inMemoryPersistence");
  for (const services of [["queue"], ["blob", "table"], ["smb"]] as const) {
    const serving = await serve({ ...all, services }, new Around());
    t.after(() => serving.stop());
    assert.deepEqual([...serving.origins.keys()], services);
  }
});

test("an unknown account is reported as unknown, on loopback with the names of existing ones", async (t) => {
  const told = async (...args: string[]) => {
    const { origins } = await started(t, new Around(), "--inMemoryPersistence", ...args);
    const details: string[] = [];
    for (const name of ["blob", "queue", "table", "file", "dfs"] as const) {
      const { port } = new URL(origins.get(name) ?? "");
      const headers = { authorization: "SharedKey nosuch:sig", "x-ms-version": "2026-04-06" };
      const path = name === "table" ? "Tables" : "?comp=list";
      const url = `http://127.0.0.1:${port}/nosuch/${path}`;
      const answer = await fetch(url, { headers });
      assert.equal(answer.status, 403);
      details.push(
        /'nosuch' is unknown to this server.*host does/.exec(await answer.text())?.[0] ?? "",
      );
    }
    return details;
  };
  const rest = "The path begins with the name of the account, unless the host does";
  const local = `'nosuch' is unknown to this server. It has: devstoreaccount1. ${rest}`;
  assert.deepEqual(await told(), [local, local, local, local, local]);
  const hidden = `'nosuch' is unknown to this server. ${rest}`;
  assert.deepEqual(await told("--queueHost", "0.0.0.0", "--trustNetwork"), [
    local,
    hidden,
    local,
    local,
    local,
  ]);
});

test("IPv6 addresses work, and are bracketed in the origin", async (t) => {
  const serving = await started(t, new Around(), "--inMemoryPersistence", "--blobHost", "::1");
  assert.match(serving.origins.get("blob") ?? "", /^http:\/\/\[::1\]:\d+$/);
  assert.equal(await statusOf(serving), 200);
});
