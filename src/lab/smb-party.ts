import type { Bytes } from "../base/bytes.ts";
import type { HistoryRange, HistoryUse } from "../check/history-file.ts";
import { connectTo, SocketLine } from "../front/smb/client/client-line.ts";
import {
  accessBits,
  closeBody,
  createBody,
  handleIn,
  lockBody,
  shareBits,
  writeBody,
} from "../front/smb/client/file-requests.ts";
import { type Reply, type Sending, SmbClient } from "../front/smb/client/smb-client.ts";
import { COMMAND } from "../front/smb/codec/header.ts";
import { LOCK_FLAG } from "../front/smb/codec/lock.ts";
import { DIALECT } from "../front/smb/codec/negotiate.ts";
import { HEADER_BYTES } from "../front/smb/codec/wire.ts";
import { ntStatusName, STATUS } from "../front/smb/nt-status.ts";
import { LabError } from "./lab-error.ts";

/** How an SMB client opens a file. */
export interface SmbOpening {
  readonly access: readonly HistoryUse[];
  /** What others may do meanwhile. */
  readonly share: readonly HistoryUse[];
}

/** What an SMB client was answered: `code` is the name of the NT status, null if it was done. */
export interface SmbAnswer {
  readonly code: string | null;
}

/** In the answer to a log-on: the server takes encrypted requests only. */
const ENCRYPTED = 4;

/** A client of one share over SMB: it connects to the server's own listener. */
export class SmbParty {
  readonly #client: SmbClient;
  readonly #sending: Sending;

  private constructor(client: SmbClient, sending: Sending) {
    this.#client = client;
    this.#sending = sending;
  }

  /** `origin` is `smb://127.0.0.1:10445`. Throws a `LabError` if the server lets nobody in. */
  static async connect(
    origin: string,
    account: string,
    key: string,
    share: string,
  ): Promise<SmbParty> {
    const { hostname, port } = new URL(origin);
    const line = new SocketLine(await connectTo(hostname.replace(/^\[|\]$/g, ""), Number(port)));
    const client = new SmbClient(line);
    try {
      requireDone(await client.negotiate({ dialects: [DIALECT.smb311] }), "negotiate");
      const user = { user: account, domain: "", password: key };
      const logon = requireDone(await client.logOn(user), "log on");
      const isEncrypted = (logon.bytes.readUInt16LE(HEADER_BYTES + 2) & ENCRYPTED) !== 0;
      const sending = isEncrypted ? { sealed: true } : { signed: true };
      requireDone(await client.treeConnect(share, sending), `connect to ${share}`);
      return new SmbParty(client, sending);
    } catch (error) {
      line.close();
      throw error;
    }
  }

  async open(name: string, { access, share }: SmbOpening): Promise<SmbAnswer & { handle: Bytes }> {
    const modes = { access: accessBits(access), share: shareBits(share) };
    const body = createBody({ name, ...modes, disposition: "open" });
    const reply = await this.#ask(COMMAND.create, body);
    return { ...answerOf(reply), handle: handleIn(reply) };
  }

  /** Locks bytes for this handle alone, or is refused at once. */
  async lock(handle: Bytes, [from, length]: HistoryRange): Promise<SmbAnswer> {
    const flags = LOCK_FLAG.exclusive | LOCK_FLAG.failImmediately;
    return answerOf(await this.#ask(COMMAND.lock, lockBody(handle, from, length, flags)));
  }

  async write(handle: Bytes, from: number, text: string): Promise<SmbAnswer> {
    return answerOf(await this.#ask(COMMAND.write, writeBody(handle, from, Buffer.from(text))));
  }

  async close(handle: Bytes): Promise<SmbAnswer> {
    return answerOf(await this.#ask(COMMAND.close, closeBody(handle)));
  }

  end(): void {
    this.#client.line.close();
  }

  async #ask(command: number, body: Bytes): Promise<Reply> {
    let reply = await this.#client.call(command, body, this.#sending);
    while (reply.status === STATUS.PENDING) reply = await this.#client.receive();
    return reply;
  }
}

function answerOf({ status }: Reply): SmbAnswer {
  return { code: status === STATUS.SUCCESS ? null : ntStatusName(status) };
}

function requireDone(reply: Reply, what: string): Reply {
  if (reply.status === STATUS.SUCCESS) return reply;
  throw new LabError(`The lab could not ${what} over SMB: ${ntStatusName(reply.status)}.`, 409);
}
