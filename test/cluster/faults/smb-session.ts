import { once } from "node:events";
import { connect } from "node:net";
import { SocketLine } from "../../../src/front/smb/client/client-line.ts";
import {
  accessBits,
  closeBody,
  createBody,
  handleIn,
  lockBody,
  shareBits,
  writeBody,
} from "../../../src/front/smb/client/file-requests.ts";
import { type Reply, SmbClient } from "../../../src/front/smb/client/smb-client.ts";
import { COMMAND } from "../../../src/front/smb/codec/header.ts";
import { LOCK_FLAG } from "../../../src/front/smb/codec/lock.ts";
import { DIALECT } from "../../../src/front/smb/codec/negotiate.ts";
import { HEADER_BYTES } from "../../../src/front/smb/codec/wire.ts";
import { STATUS } from "../../../src/front/smb/nt-status.ts";
import { ACCOUNT, KEY } from "../../sdk/server.ts";
import { readBody, type SmbHandle } from "../../smb/smb-files.ts";
import type { Clients } from "./clients.ts";
import type { Outcome } from "./outcome.ts";

const CONNECT_MS_MAX = 5_000;
/** Far longer than a front end takes to give up. */
const ANSWER_MS_MAX = 30_000;
const READ_BYTES = 65_536;
const WHOLE_FILE = [0, 2 ** 40] as const;
/** Beyond loopback, the server takes encrypted requests only. */
const SENDING = { sealed: true };

/** What other opens may do meanwhile: nothing, or everything. */
export type SmbShare = "none" | "all";

/** The SMB connection of one worker to one front end, with one request at a time. */
export class SmbSession {
  /** The front end. */
  readonly to: Clients;
  readonly #client: SmbClient;
  readonly #onAnswer: () => void;
  #isOpen = true;
  #sentMs = 0;

  private constructor(to: Clients, client: SmbClient, onAnswer: () => void) {
    this.to = to;
    this.#client = client;
    this.#onAnswer = onAnswer;
  }

  /** Rejects if there is no connection in time. */
  static async connect(to: Clients, share: string, onAnswer: () => void): Promise<SmbSession> {
    const tooLong = new AbortController();
    // tidy-allow sleep: a front end that was cut off never answers
    const timer = setTimeout(() => tooLong.abort(), CONNECT_MS_MAX);
    const socket = connect({ ...to.smb, signal: tooLong.signal });
    try {
      await once(socket, "connect");
      const client = new SmbClient(new SocketLine(socket));
      requireDone(await client.negotiate({ dialects: [DIALECT.smb311] }));
      requireDone(await client.logOn({ user: ACCOUNT, domain: "", password: KEY }));
      requireDone(await client.treeConnect(share, SENDING));
      return new SmbSession(to, client, onAnswer);
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** False once the server has closed the connection, or has not answered in time. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** When the last request was sent. */
  get sentMs(): number {
    return this.#sentMs;
  }

  end(): void {
    this.#isOpen = false;
    this.#client.line.close();
  }

  /** Opens a file that is there, to read and write. */
  open(name: string, share: SmbShare): Promise<Outcome<SmbHandle>> {
    const modes = {
      access: accessBits(["read", "write"]),
      share: shareBits(share === "none" ? [] : ["read", "write", "delete"]),
    };
    const body = createBody({ name, ...modes, disposition: "open" });
    // The frame's buffer must not stay as long as the handle.
    return this.#ask(COMMAND.create, body, (reply) => Buffer.from(handleIn(reply)));
  }

  /** Locks the whole file for this handle alone; `waits` until others unlock it. */
  lock(handle: SmbHandle, waits: boolean): Promise<Outcome<null>> {
    const flags = LOCK_FLAG.exclusive | (waits ? 0 : LOCK_FLAG.failImmediately);
    return this.#ask(COMMAND.lock, lockBody(handle, ...WHOLE_FILE, flags));
  }

  unlock(handle: SmbHandle): Promise<Outcome<null>> {
    return this.#ask(COMMAND.lock, lockBody(handle, ...WHOLE_FILE, LOCK_FLAG.unlock));
  }

  async readAll(handle: SmbHandle): Promise<Outcome<Buffer>> {
    const parts: Buffer[] = [];
    for (let at = 0; ; at += READ_BYTES) {
      const part = await this.read(handle, at, READ_BYTES);
      if (part.kind !== "done") return part;
      parts.push(part.value);
      if (part.value.length < READ_BYTES) return { kind: "done", value: Buffer.concat(parts) };
    }
  }

  async read(handle: SmbHandle, from: number, length: number): Promise<Outcome<Buffer>> {
    const read = await this.#ask(COMMAND.read, readBody(handle, from, length), ({ bytes }) => {
      const count = bytes.readUInt32LE(HEADER_BYTES + 4);
      return Buffer.from(bytes.subarray(HEADER_BYTES + 16, HEADER_BYTES + 16 + count));
    });
    const isEmpty = read.kind === "refused" && read.status === STATUS.END_OF_FILE;
    return isEmpty ? { kind: "done", value: Buffer.alloc(0) } : read;
  }

  write(handle: SmbHandle, from: number, text: string): Promise<Outcome<null>> {
    return this.#ask(COMMAND.write, writeBody(handle, from, Buffer.from(text)));
  }

  flush(handle: SmbHandle): Promise<Outcome<null>> {
    return this.#ask(COMMAND.flush, closeBody(handle));
  }

  close(handle: SmbHandle): Promise<Outcome<null>> {
    return this.#ask(COMMAND.close, closeBody(handle));
  }

  #ask(command: number, body: Buffer): Promise<Outcome<null>>;
  #ask<T>(command: number, body: Buffer, take: (reply: Reply) => T): Promise<Outcome<T>>;
  async #ask<T>(command: number, body: Buffer, take?: (reply: Reply) => T) {
    if (!this.#isOpen) return { kind: "unknown" };
    this.#sentMs = performance.now();
    // tidy-allow sleep: a front end that was cut off never answers
    const timer = setTimeout(() => this.end(), ANSWER_MS_MAX);
    try {
      const reply = await this.#exchange(command, body);
      const { status } = reply;
      if (status === STATUS.SERVER_UNAVAILABLE) return { kind: "busy" };
      if (status === STATUS.INTERNAL_ERROR) return { kind: "unknown" };
      this.#onAnswer();
      if (status !== STATUS.SUCCESS) return { kind: "refused", status };
      return { kind: "done", value: take === undefined ? null : take(reply) };
    } catch {
      this.end();
      return { kind: "unknown" };
    } finally {
      clearTimeout(timer);
    }
  }

  async #exchange(command: number, body: Buffer): Promise<Reply> {
    let reply = await this.#client.call(command, body, SENDING);
    while (reply.status === STATUS.PENDING) reply = await this.#client.receive();
    return reply;
  }
}

function requireDone({ status }: Reply): void {
  if (status !== STATUS.SUCCESS) throw new Error(`status 0x${status.toString(16)}`);
}
