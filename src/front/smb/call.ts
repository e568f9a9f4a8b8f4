import type { BorrowedBuffer } from "../../base/borrowed-buffer.ts";
import type { Bytes } from "../../base/bytes.ts";
import type { Taken } from "../../store/content.ts";
import type { Share } from "../send-budget.ts";
import type { CallFacts } from "./call-facts.ts";
import { type FileId, isFileIdBefore } from "./codec/file-id.ts";
import { COMMAND, type RequestHeader } from "./codec/header.ts";
import { DIALECT } from "./codec/negotiate.ts";
import type { Connection } from "./connection.ts";
import type { SignatureCheck } from "./crypto/signer.ts";
import type { FileHost } from "./file-host.ts";
import type { FileOpen } from "./file-open.ts";
import { CREDIT_BYTES } from "./limits.ts";
import { type NtStatus, STATUS, StatusError } from "./nt-status.ts";
import type { Open } from "./open.ts";
import type { Session } from "./session.ts";
import type { SmbServer } from "./smb-server.ts";
import type { Tree } from "./tree.ts";

/** Commands that are refused if their client has sent them again on another connection. */
const CHANGING: ReadonlySet<number> = new Set([COMMAND.write, COMMAND.setInfo, COMMAND.ioctl]);

/** The response to a request. */
export interface Answer {
  readonly status: NtStatus;
  /** Written one after another, behind the header. */
  readonly body: readonly Bytes[];
  /** Bytes that follow the body. The sender of the response releases them. */
  readonly borrowed: BorrowedBuffer | null;
  /** Its memory until it is sent. */
  readonly share: Share | null;
  /** Set if the request could not name its session yet. */
  readonly session: Session | null;
  readonly treeId: number | null;
  /** Called with the whole message when it is sent. */
  readonly onSent: ((message: Bytes) => void) | null;
}

/** Makes a response with a status and a body. */
export function answered(
  status: NtStatus,
  body: readonly Bytes[],
  more: Partial<Omit<Answer, "status" | "body">> = {},
): Answer {
  const { borrowed = null, share = null, session = null, treeId = null, onSent = null } = more;
  return { status, body, borrowed, share, session, treeId, onSent };
}

export function success(...body: readonly Bytes[]): Answer {
  return answered(STATUS.SUCCESS, body);
}

/** A message of a frame, with its header read. */
export interface Message {
  readonly header: RequestHeader;
  /** Up to the next message, or up to its bulk. */
  readonly bytes: Bytes;
  readonly bulk: Bulk | null;
  /** The computed signature of a large message; null if it is small or not signed. */
  readonly signature: SignatureCheck | null;
}

/** The bytes of a large WRITE, which are stored while they arrive. */
export interface Bulk {
  readonly taken: Promise<Taken>;
  readonly length: number;
}

/** What a request of a compound passes on to the related one after it. */
export interface Chain {
  /** Null before the first request. */
  sessionId: number | null;
  treeId: number;
  /** The file of the request before; null before the first, or if it could not be opened. */
  fileId: FileId | null;
  /** The error of the request before, or null. */
  failed: NtStatus | null;
}

/** One request while it is being answered. */
export class Call {
  readonly connection: Connection;
  readonly header: RequestHeader;
  readonly message: Bytes;
  /** The data of a large WRITE: the message ends before it. */
  readonly bulk: Bulk | null;
  /** Whether the request was encrypted. */
  readonly sealed: boolean;
  readonly chain: Chain;
  /** Filled in while the request is handled, for its outcome. */
  readonly facts: CallFacts;
  readonly #session: Session | null;
  readonly #tree: Tree | null;
  readonly #pend: () => AbortSignal;
  readonly #share: (bytes: number) => Promise<Share>;
  /** The opens that the request uses; they are not closed before it ends. */
  readonly #opens: Open[] = [];

  constructor(
    connection: Connection,
    { header, bytes, bulk }: Message,
    parts: {
      readonly sealed: boolean;
      readonly chain: Chain;
      readonly facts: CallFacts;
      readonly session: Session | null;
      readonly tree: Tree | null;
      readonly pend: () => AbortSignal;
      readonly share: (bytes: number) => Promise<Share>;
    },
  ) {
    this.connection = connection;
    this.header = header;
    this.message = bytes;
    this.bulk = bulk;
    this.sealed = parts.sealed;
    this.chain = parts.chain;
    this.facts = parts.facts;
    this.#session = parts.session;
    this.#tree = parts.tree;
    this.#pend = parts.pend;
    this.#share = parts.share;
  }

  get server(): SmbServer {
    return this.connection.server;
  }

  /** Where the shares of the session's account are. */
  get host(): FileHost {
    return this.session.host;
  }

  get hasSession(): boolean {
    return this.#session !== null;
  }

  get session(): Session {
    if (this.#session === null) throw new StatusError(STATUS.USER_SESSION_DELETED);
    return this.#session;
  }

  get tree(): Tree {
    if (this.#tree === null) throw new StatusError(STATUS.NETWORK_NAME_DELETED);
    return this.#tree;
  }

  /** The open that a request names, or that of the related request before it. */
  open(fileId: FileId): Open {
    const named = this.#resolve(fileId);
    const open = this.session.opens.get(named.volatile);
    const isIt = open?.fileId.persistent === named.persistent && open.treeId === this.tree.id;
    if (open === undefined || !isIt) throw new StatusError(STATUS.FILE_CLOSED);
    this.chain.fileId = named;
    if (!this.#opens.includes(open)) {
      this.#opens.push(open);
      open.enter();
      if (open.kind === "file") this.#use(open);
    }
    return open;
  }

  #use(open: FileOpen): void {
    this.facts.path = open.openedAs;
    this.host.namedOpens.use(open);
    const { command, channelSequence } = this.header;
    if (this.connection.negotiated.dialect < DIALECT.smb300) return;
    const isLate = !open.follow(channelSequence);
    if (isLate && CHANGING.has(command)) throw new StatusError(STATUS.FILE_NOT_AVAILABLE);
  }

  #resolve(fileId: FileId): FileId {
    if (!isFileIdBefore(fileId)) return fileId;
    if (this.chain.fileId !== null) return this.chain.fileId;
    throw new StatusError(this.chain.failed ?? STATUS.FILE_CLOSED);
  }

  /** Releases the opens once the request is answered. */
  end(): void {
    for (const open of this.#opens) open.leave();
  }

  /** Refuses a transfer that exceeds the credits of the request. */
  expectCharge(bytes: number): void {
    const paid = Math.max(1, this.header.creditCharge) * CREDIT_BYTES;
    if (bytes > Math.min(paid, this.connection.negotiated.transferBytesMax)) {
      throw new StatusError(STATUS.INVALID_PARAMETER);
    }
  }

  /** Waits for memory for a response, which must carry the share. */
  share(bytes: number): Promise<Share> {
    return this.#share(bytes);
  }

  /** Sends an interim response. The signal is aborted if the client cancels or disconnects. */
  pend(): AbortSignal {
    return this.#pend();
  }
}
