import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { skipWithoutDebianProgram } from "../../../test/programs/debian-program.ts";
import { k, put, read, v } from "../../store/opened-store.contract.ts";
import { storeContract } from "../../store/store.contract.ts";
import { readAddress } from "./address.ts";
import { PostgresServer, skipWithoutOwnPostgres } from "./postgres-server.fixture.ts";
import { openPostgresStore, type PostgresStoreOptions } from "./store.ts";

const skip = skipWithoutOwnPostgres() ?? skipWithoutDebianProgram("pgbouncer", "pgbouncer");
/** PgBouncer refuses to run as root. */
const USER = process.getuid?.() === 0 ? ["-u", "postgres"] : [];

/** A pool in front of a server, with a Unix socket of its own. */
class Pool {
  readonly #folder: string;
  readonly #child: ChildProcess;

  private constructor(folder: string, child: ChildProcess) {
    this.#folder = folder;
    this.#child = child;
  }

  static async start(server: PostgresServer, mode: string): Promise<Pool> {
    const folder = mkdtempSync(join(tmpdir(), "lazuli-pool-"));
    // Its user is another one.
    chmodSync(folder, 0o777);
    const { user, password } = readAddress(server.url());
    const target = `host=${server.socketFolder} user=${user} password='${password}'`;
    const settings = {
      pool_mode: mode,
      auth_type: "any",
      unix_socket_dir: folder,
      listen_addr: "",
    };
    const sized = { ...settings, default_pool_size: "100", max_db_connections: "0" };
    const lines = Object.entries(sized).map(([name, value]) => `${name} = ${value}\n`);
    const file = join(folder, "pgbouncer.ini");
    writeFileSync(file, `[databases]\npostgres = ${target}\n[pgbouncer]\n${lines.join("")}`);
    const child = spawn("pgbouncer", [...USER, file], { stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    await new Promise<void>((resolve, reject) => {
      child.stderr?.on("data", (text) => {
        said += text;
        if (/process up/.test(said)) resolve();
      });
      child.once("exit", (code) => reject(new Error(`pgbouncer ended with ${code}: ${said}`)));
    });
    return new Pool(folder, child);
  }

  /** The address of a schema there. */
  urlOf(server: PostgresServer, url = server.url()): string {
    return url.replace("@/", "@:6432/").replace(server.socketFolder, this.#folder);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null) {
      const ended = once(this.#child, "exit");
      this.#child.kill("SIGTERM");
      await ended;
    }
    rmSync(this.#folder, { recursive: true });
  }
}

describe("a pool in front of the database", { skip: skip ?? false }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start("max_connections=200");
  });
  after(() => server.remove());

  describe("that is in session mode", () => {
    let pool: Pool;
    before(async () => {
      pool = await Pool.start(server, "session");
    });
    after(() => pool.stop());
    const open = (url: string, options: PostgresStoreOptions = {}) =>
      openPostgresStore(readAddress(pool.urlOf(server, url)), options);

    storeContract(
      "postgres, behind a pool,",
      async (clock) => {
        const store = await open(server.url(), { clock });
        return { store, dispose: () => store.close() };
      },
      { runsBodiesOnce: false },
    );

    test("serves front ends, which tell each other of commits", async (t) => {
      const url = server.url();
      const here = await open(url, { times: { pollMs: 2 ** 31 - 1 } });
      const there = await open(url);
      t.after(() => Promise.all([here.close(), there.close()]));
      const heard = new Promise<void>((resolve) => {
        here.changes((keys) => {
          if (keys?.some((key) => key.equals(k(1)))) resolve();
        });
      });
      await put(there, k(1), v("x"));
      await heard;
      assert.equal(`${await read(here, k(1))}`, "x");
    });
  });

  for (const mode of ["transaction", "statement"]) {
    test(`that is in ${mode} mode is refused, and keeps nothing of it`, async (t) => {
      const pool = await Pool.start(server, mode);
      t.after(() => pool.stop());
      const url = server.url();
      for (let attempt = 0; attempt < 2; attempt++) {
        const opening = openPostgresStore(readAddress(pool.urlOf(server, url)));
        opening.then(
          (store) => store.close(),
          () => {},
        );
        await assert.rejects(opening, /a pool there gives .*pool_mode = session.*server itself$/);
      }
      const { schema } = readAddress(url);
      const made = `select from pg_namespace where nspname = '${schema}'`;
      const found = await server.withClient(url, (client) => client.query(made));
      assert.equal((found as { rowCount: number }).rowCount, 0);
    });
  }
});
