import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { skipWithoutDebianPackage } from "../../../test/programs/debian-program.ts";
import type { Client } from "./driver.ts";
import { loadDriver } from "./driver.ts";

const PROGRAMS = "/usr/lib/postgresql";
const PASSWORD = "p@ss:w/rd";

/** The address of a server to test with instead of one that the tests start. */
const GIVEN = process.env.LAZULI_TEST_POSTGRES;

/** Null if the tests can have a PostgreSQL server, otherwise the reason to skip them. */
export function skipWithoutPostgres(): string | null {
  if (GIVEN !== undefined) return null;
  const probe = `ls ${PROGRAMS}/*/bin/postgres`;
  const missing = skipWithoutDebianPackage("PostgreSQL", "postgresql", probe);
  if (missing === null) return null;
  return `${missing}; or give the address of a server in LAZULI_TEST_POSTGRES`;
}

/** As `skipWithoutPostgres`, for tests that stop the server and start it again. */
export function skipWithoutOwnPostgres(): string | null {
  if (GIVEN !== undefined) return "LAZULI_TEST_POSTGRES names a server, which tests do not stop";
  return skipWithoutPostgres();
}

/** A PostgreSQL server for the tests of one file. */
export class PostgresServer {
  readonly #folder: string;
  readonly #user: { readonly uid: number; readonly gid: number } | null;
  readonly #settings: string[];
  #process: ChildProcess | null = null;

  private constructor(
    folder: string,
    user: { uid: number; gid: number } | null,
    settings: string[],
  ) {
    this.#folder = folder;
    this.#user = user;
    this.#settings = settings;
  }

  /** Starts a server, or connects to the given one. `settings` are like `fsync=on`. */
  static async start(...settings: string[]): Promise<PostgresServer> {
    if (GIVEN !== undefined) return new PostgresServer("", null, []);
    const folder = mkdtempSync(join(tmpdir(), "lazuli-pg-"));
    const user = process.getuid?.() === 0 ? postgresUser() : null;
    if (user !== null) chownSync(folder, user.uid, user.gid);
    const server = new PostgresServer(folder, user, ["fsync=off", ...settings]);
    writeFileSync(server.#passwordFile, PASSWORD, { mode: 0o644 });
    const auth = [
      "--auth=scram-sha-256",
      `--pwfile=${server.#passwordFile}`,
      "--username=postgres",
    ];
    server.#runSync("initdb", "--no-sync", "--encoding=UTF8", ...auth, "-D", server.#dataFolder);
    await server.resume();
    return server;
  }

  /** The folder of its Unix socket. */
  get socketFolder(): string {
    return this.#folder;
  }

  /** The address of a schema that no other test uses. */
  url(schema = `test_${randomBytes(6).toString("hex")}`, folder = this.#folder): string {
    if (GIVEN !== undefined) return `${GIVEN}${GIVEN.includes("?") ? "&" : "?"}schema=${schema}`;
    const password = encodeURIComponent(PASSWORD);
    return `postgres://postgres:${password}@/postgres?host=${folder}&schema=${schema}`;
  }

  /** The address for PostgreSQL's own programs. */
  libpqUrl(folder = this.#folder): string {
    return this.url("", folder).replace(/[?&]schema=/, "");
  }

  /**
   * Starts a standby on a copy of the data, which reaches the server by the socket in `folder`.
   * Commits wait for it from then on, until it is removed.
   */
  async addStandby(folder = this.#folder): Promise<{ remove(): Promise<void> }> {
    const own = mkdtempSync(join(tmpdir(), "lazuli-pg-"));
    if (this.#user !== null) chownSync(own, this.#user.uid, this.#user.gid);
    const primary = `primary_conninfo=${this.libpqUrl(folder)}`;
    const standby = new PostgresServer(own, this.#user, [...this.#settings, primary]);
    this.#runSync(
      "pg_basebackup",
      "-R",
      "-c",
      "fast",
      "-D",
      standby.#dataFolder,
      "-d",
      this.libpqUrl(),
    );
    await standby.resume();
    const waitFor = (names: string) =>
      this.withClient(this.url(), async (client) => {
        await client.query(`alter system set synchronous_standby_names = '${names}'`);
        await client.query("select pg_reload_conf()");
      });
    await waitFor("*");
    return { remove: () => waitFor("").then(() => standby.remove()) };
  }

  /**
   * Restarts the server with a port of loopback at which it takes TLS. Resolves to the address of a
   * schema there.
   */
  async listenWithTls(host: string, port: number, certificate: Buffer, key: Buffer) {
    const files = { cert: join(this.#folder, "cert.pem"), key: join(this.#folder, "key.pem") };
    writeFileSync(files.cert, certificate);
    writeFileSync(files.key, key, { mode: 0o600 });
    if (this.#user !== null) chownSync(files.key, this.#user.uid, this.#user.gid);
    await this.#end("SIGINT");
    this.#settings.push("listen_addresses=127.0.0.1,127.0.0.2", `port=${port}`, "ssl=on");
    this.#settings.push(`ssl_cert_file=${files.cert}`, `ssl_key_file=${files.key}`);
    await this.resume();
    const url = `postgres://postgres:${encodeURIComponent(PASSWORD)}@${host}:${port}/postgres`;
    return { url, certificate: files.cert };
  }

  /** Starts the server again after `stop` or `kill`, and waits until it takes connections. */
  async resume(): Promise<void> {
    const settings = this.#settings.flatMap((setting) => ["-c", setting]);
    const place = ["-D", this.#dataFolder, "-k", this.#folder, "-c", "listen_addresses="];
    const running = spawn(program("postgres"), [...place, ...settings], {
      ...this.#user,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#process = running;
    let said = "";
    await new Promise<void>((resolve, reject) => {
      running.stderr?.on("data", (text) => {
        said += text;
        if (/ready to accept (read-only )?connections/.test(said)) resolve();
      });
      running.once("exit", (code) => reject(new Error(`postgres ended with ${code}: ${said}`)));
    });
  }

  /** Ends all processes of the server at once, as a crash does. */
  async kill(): Promise<void> {
    await this.#end("SIGQUIT");
  }

  /** Ends the server and removes its data. */
  async remove(): Promise<void> {
    if (GIVEN !== undefined) return;
    await this.#end("SIGINT");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Runs `work` with a connection of its own. */
  async withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
    const { Client } = await loadDriver();
    const text = url.replace(/[?&]schema=[^&]*/, "");
    const Connecting = Client as unknown as new (config: { connectionString: string }) => Client;
    const client = new Connecting({ connectionString: text });
    client.on("error", () => {});
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end().catch(() => {});
    }
  }

  get #dataFolder(): string {
    return join(this.#folder, "data");
  }

  get #passwordFile(): string {
    return join(this.#folder, "password");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const running = this.#process;
    this.#process = null;
    if (running === null || running.exitCode !== null) return;
    const ended = once(running, "exit");
    running.kill(signal);
    await ended;
  }

  #runSync(name: string, ...args: string[]): void {
    const done = spawnSync(program(name), args, { ...this.#user, cwd: this.#folder });
    if (done.status !== 0) throw new Error(`${name}: ${done.stderr}`);
  }
}

/** PostgreSQL refuses to run as root. */
function postgresUser(): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

function program(name: string): string {
  const versions = readdirSync(PROGRAMS).map(Number).filter(Number.isInteger);
  return join(PROGRAMS, `${Math.max(...versions)}`, "bin", name);
}
