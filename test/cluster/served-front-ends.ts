import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import {
  type ShareClient,
  ShareServiceClient,
  StorageSharedKeyCredential,
} from "@azure/storage-file-share";
import { ManualClock } from "../../src/base/clock.ts";
import { BEAT_MS } from "../../src/cluster/front-end.ts";
import { ManualTimers } from "../../src/cluster/front-ends.fixture.ts";
import type { PostgresServer } from "../../src/engine/postgres/postgres-server.fixture.ts";
import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { readCommandLine } from "../../src/main/command-line.ts";
import { type Data, openData } from "../../src/main/open-data.ts";
import { serve } from "../../src/main/serve.ts";
import { readSettings } from "../../src/main/settings.ts";
import type { SharedPlace } from "../../src/main/shared-place.ts";
import type { StoreError } from "../../src/store/store.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { SmbFiles } from "../smb/smb-files.ts";

/** A front end with all its listeners, and clients of its own. */
export interface Served {
  readonly share: ShareClient;
  readonly lines: readonly string[];
  readonly ends: readonly StoreError[];
  smb(): Promise<SmbFiles>;
  /** Stops it in order. */
  stop(): Promise<void>;
  /** Stops its timers, so that it seems to be dead. Its connections stay. */
  freeze(): void;
  /** Lets its timers go on. */
  thaw(): void;
}

/** Timers of one front end, which can be stopped. */
class FrontEndTimers extends ManualTimers {
  isFrozen = false;

  override async runDue(): Promise<void> {
    if (!this.isFrozen) await super.runDue();
  }
}

/** Whole servers in this process that share a PostgreSQL database, a folder and a manual clock. */
export class ServedFrontEnds {
  readonly clock = new ManualClock(Date.now());
  readonly #t: TestContext;
  readonly #shared: SharedPlace;
  readonly #args: readonly string[];
  readonly #timers: FrontEndTimers[] = [];

  constructor(t: TestContext, server: PostgresServer) {
    const folder = mkdtempSync(join(tmpdir(), "lazuli-served-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    this.#t = t;
    this.#shared = { records: server.url(), bytes: folder };
    this.#args = ["--records", this.#shared.records, "--bytes", folder, ...ANY_PORTS];
  }

  async add(): Promise<Served> {
    const timers = new FrontEndTimers(this.clock);
    this.#timers.push(timers);
    const lines: string[] = [];
    const ends: StoreError[] = [];
    const asked = readCommandLine([...this.#args], {});
    if (asked.kind !== "start") throw new Error("no start");
    const serving = await serve(readSettings(asked.options), {
      clock: this.clock,
      sharedClock: this.clock,
      schedule: timers.schedule,
      software: "Lazuli/test",
      out: () => {},
      err: (line) => lines.push(line),
      failStop: (error) => ends.push(error),
    });
    this.#t.after(() => serving.stop());
    const url = `${serving.origins.get("file")}/${ACCOUNT}`;
    const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
    const service = new ShareServiceClient(url, credential, { retryOptions: { maxTries: 1 } });
    const port = Number(new URL(serving.origins.get("smb") ?? "").port);
    return {
      share: service.getShareClient("box"),
      lines,
      ends,
      freeze: () => {
        timers.isFrozen = true;
      },
      thaw: () => {
        timers.isFrozen = false;
      },
      stop: () => serving.stop(),
      smb: async () => {
        const files = await SmbFiles.connect(port, "box");
        this.#t.after(() => files.close());
        return files;
      },
    };
  }

  /** Joins as a command does. */
  async guest(): Promise<Data> {
    const timers = new FrontEndTimers(this.clock);
    this.#timers.push(timers);
    const { schedule } = timers;
    const options = { schedule, sharedClock: this.clock, guest: "test" };
    const place = { location: null, memoryBytesMax: null, shared: this.#shared };
    const failStop = (error: StoreError) => assert.fail(error);
    return openData(place, this.clock, failStop, options);
  }

  /** The files of large bodies. */
  get extents(): string[] {
    const files = readdirSync(join(this.#shared.bytes, "extents"), { recursive: true });
    return files.map(String).filter((name) => name.endsWith(".extent"));
  }

  /** Runs what is due, without any time that passes, until something is so. */
  async settleUntil(isSo: () => Promise<boolean>): Promise<void> {
    while (!(await isSo())) await Promise.all(this.#timers.map((timers) => timers.runDue()));
  }

  /** Lets time pass for all that are not frozen, until something is so. */
  async passUntil(isSo: () => Promise<boolean>): Promise<void> {
    for (let beats = 0; beats < 100; beats++) {
      if (await isSo()) return;
      this.clock.advance(BEAT_MS);
      await Promise.all(this.#timers.map((timers) => timers.runDue()));
      // Requests take as long as the work behind the timers, whatever the machine does meanwhile.
      for (let again = 0; again < 5; again++) {
        await isSo();
        await new Promise(setImmediate);
      }
    }
    throw new Error("it did not happen");
  }
}
