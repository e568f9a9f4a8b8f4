import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { systemClock } from "../base/clock.ts";
import type { StoreError } from "../store/store.ts";
import { readCommandLine } from "./command-line.ts";
import { type Serving, type Surroundings, serve } from "./serve.ts";
import { readSettings } from "./settings.ts";
import { StartError } from "./start-error.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-"));
after(() => rmSync(scratch, { recursive: true }));

/** Callbacks that are due stay due: tests let them run by hand. */
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
  const ports = ["--blobPort", "0", "--queuePort", "0", "--tablePort", "0", "--filePort", "0"];
  const asked = readCommandLine([...ports, ...args], {});
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

test("a server that is stopped lets go of its port, its folder and its timers", async (t) => {
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

test("a start that fails leaves nothing open", async (t) => {
  const other = await started(t, new Around(), "--inMemoryPersistence");
  const taken = new URL(other.origins.get("blob") ?? "").port;
  const location = ["--location", join(scratch, "failed")];
  const around = new Around();
  await assert.rejects(started(t, around, ...location, "--blobPort", taken), StartError);
  assert.equal(around.due.length, 0);
  assert.equal(await statusOf(await started(t, new Around(), ...location)), 200);
});

test("services still to come take no port", async (t) => {
  const { origins } = await started(t, new Around(), "--inMemoryPersistence");
  assert.deepEqual([...origins.keys()], ["blob", "queue", "table", "file"]);
});

test("IPv6 addresses work, and are bracketed in the origin", async (t) => {
  const serving = await started(t, new Around(), "--inMemoryPersistence", "--blobHost", "::1");
  assert.match(serving.origins.get("blob") ?? "", /^http:\/\/\[::1\]:\d+$/);
  assert.equal(await statusOf(serving), 200);
});
