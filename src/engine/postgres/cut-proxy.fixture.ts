import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SOCKET = ".s.PGSQL.5432";
/** The message that runs the prepared statement of this name, which begins every commit. */
const COMMIT = "\0advance\0";

/** The message that takes the write lock. */
const LOCK = "\0lock_last\0";

/** What happens to the next commit that passes, once. */
type Trap =
  | "lose the request"
  | "lose the answer"
  | "hold everything"
  /** The request passes once `letPass` is called. */
  | "delay"
  /** The connection is lost, and yet the request reaches the server once `letPass` is called. */
  | "arrive late";

/** Stands between a front end and the database, and cuts their connections. */
export class CutProxy {
  readonly folder = mkdtempSync(join(tmpdir(), "lazuli-cut-"));
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #trap: Trap | null = null;
  #onSprung: () => void = () => {};
  #isShut = false;
  #silencing: string | null = null;
  #onSilenced: () => void = () => {};
  #letPass: () => Promise<void> = async () => {};
  /** How often a front end has taken the write lock. */
  locks = 0;

  private constructor(serverFolder: string) {
    this.#server = createServer((near) => this.#join(near, join(serverFolder, SOCKET)));
  }

  static async start(serverFolder: string): Promise<CutProxy> {
    const proxy = new CutProxy(serverFolder);
    await new Promise<void>((resolve) => {
      proxy.#server.listen(join(proxy.folder, SOCKET), resolve);
    });
    return proxy;
  }

  /** Springs a trap at the next commit. Resolves when it has. */
  trapNextCommit(trap: Trap): Promise<void> {
    this.#trap = trap;
    return new Promise((resolve) => {
      this.#onSprung = resolve;
    });
  }

  /** Lets a request pass that was delayed or lost. Resolves once the server has answered. */
  letPass(): Promise<void> {
    return this.#letPass();
  }

  /** The next connection that sends this text falls silent. Resolves when it has. */
  silenceAt(text: string): Promise<void> {
    this.#silencing = text;
    return new Promise((resolve) => {
      this.#onSilenced = resolve;
    });
  }

  /** Ends all connections. While it is shut, new ones end, too. */
  cut({ isShut = false } = {}): void {
    this.#isShut = isShut;
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  /** Ends new connections, and leaves those that are there. */
  refuse(): void {
    this.#isShut = true;
  }

  open(): void {
    this.#isShut = false;
  }

  async close(): Promise<void> {
    this.cut({ isShut: true });
    await new Promise((resolve) => this.#server.close(resolve));
    rmSync(this.folder, { recursive: true });
  }

  #join(near: Socket, path: string): void {
    const far = createConnection(path);
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    for (const socket of pair) {
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#pairs.delete(pair);
        for (const each of pair) each.destroy();
      });
    }
    if (this.#isShut) near.destroy();
    near.on("data", (data) => {
      if (this.#silencing !== null && data.includes(this.#silencing)) {
        this.#silencing = null;
        near.removeAllListeners("data");
        near.resume();
        this.#onSilenced();
        return;
      }
      if (data.includes(LOCK)) this.locks++;
      const isCommit = data.includes(COMMIT);
      if (this.#trap === null || !isCommit) far.write(data);
      else this.#spring(near, far, data);
    });
    far.on("data", (data) => near.write(data));
  }

  #spring(near: Socket, far: Socket, data: Buffer): void {
    const trap = this.#trap;
    this.#trap = null;
    this.#onSprung();
    if (trap === "hold everything") {
      near.removeAllListeners("data");
      near.resume();
      return;
    }
    if (trap === "delay") {
      this.#passLater(far, data);
      return;
    }
    if (trap === "arrive late") {
      near.removeAllListeners("close");
      near.destroy();
      this.#passLater(far, data);
      return;
    }
    if (trap === "lose the request") {
      near.destroy();
      return;
    }
    far.removeAllListeners("data");
    far.on("data", () => near.destroy());
    far.write(data);
  }

  #passLater(far: Socket, data: Buffer): void {
    this.#letPass = async () => {
      const answered = new Promise((resolve) => far.once("data", resolve));
      far.write(data);
      await answered;
    };
  }
}
