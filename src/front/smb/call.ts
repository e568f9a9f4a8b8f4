import type { BorrowedBuffer } from "../../base/borrowed-buffer.ts";
import type { Bytes } from "../../base/bytes.ts";
import type { Taken } from "../../store/contents.ts";
import type { Share } from "../send-budget.ts";
import { type FileId, isFileIdBefore } from "./codec/file-id.ts";
import { COMMAND, type RequestHeader } from "./codec/header.ts";
import { DIALECT } from "./codec/negotiate.ts";
import type { Connection } from "./connection.ts";
import type { SignatureCheck } from "./crypto/signer.ts";
import type { FileOpen } from "./file-open.ts";
import { CREDIT_BYTES } from "./limits.ts";
import { type NtStatus, STATUS, StatusError } from "./nt-status.ts";
import type { Open } from "./open.ts";
import type { Session } from "./session.ts";
import type { SmbServer } from "./smb-server.ts";
import type { Tree } from "./tree.ts";

/** What must not happen any more once its client has sent it again. */
const CHANGING: ReadonlySet<number> = new Set([COMMAND.write, COMMAND.setInfo, COMMAND.ioctl]);

/** What comes of a request. */
export interface Answer {
  readonly status: NtStatus;
  /** One after another, behind the header. */
  readonly body: readonly Bytes[];
  /** What follows the body, where its lender has it. Whoever sends the answer gives it back. */
  readonly lent: BorrowedBuffer | null;
  /** The memory that it takes until it is sent. */
  readonly share: Share | null;
  /** Stated where the request could not name it yet. */
  readonly session: Session | null;
  readonly treeId: number | null;
  /** Sees the whole message as it is sent. */
  readonly onSent: ((message: Bytes) => void) | null;
}

/** All answers have one shape: whatever the command, the same few lines send them. */
export function answered(
  status: NtStatus,
  body: readonly Bytes[],
  more: Partial<Omit<Answer, "status" | "body">> = {},
): Answer {
  const { lent = null, share = null, session = null, treeId = null, onSent = null } = more;
  return { status, body, lent, share, session, treeId, onSent };
}

export function success(...body: readonly Bytes[]): Answer {
  return answered(STATUS.SUCCESS, body);
}

/** A message of a frame, with its header read. */
export interface Message {
  readonly header: RequestHeader;
  /** To where the next one begins, or its bulk. */
  readonly bytes: Bytes;
  readonly bulk: Bulk | null;
  /** Of a large message, all of which was gone through; null for one that is not signed, or small. */
  readonly signature: SignatureCheck | null;
}

/** The bytes of a large WRITE, which were taken as they came. */
export interface Bulk {
  readonly taken: Promise<Taken>;
}

/** What the related requests of a compound hand on to each other. */
export interface Chain {
  /** Null before the first. */
  sessionId: number | null;
  treeId: number;
  /** What the request before worked on; null before the first, or if it could not be opened. */
  fileId: FileId | null;
  /** Why the request before failed, if it did. */
  failed: NtStatus | null;
}

/** One request while it is being answered. */
export class Call {
  readonly connection: Connection;
  readonly header: RequestHeader;
  readonly message: Bytes;
  /** What is to be written, if it is much: then the message ends before it. */
  readonly bulk: Bulk | null;
  /** Whether it came encrypted. */
  readonly sealed: boolean;
  readonly chain: Chain;
  readonly #session: Session | null;
  readonly #tree: Tree | null;
  readonly #pend: () => AbortSignal;
  readonly #share: (bytes: number) => Promise<Share>;
  /** What it works on, which is not closed before it is done. */
  readonly #opens: Open[] = [];

  constructor(
    connection: Connection,
    { header, bytes, bulk }: Message,
    parts: {
      readonly sealed: boolean;
      readonly chain: Chain;
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
    this.#session = parts.session;
    this.#tree = parts.tree;
    this.#pend = parts.pend;
    this.#share = parts.share;
  }

  get server(): SmbServer {
    return this.connection.server;
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

  /** The open that a request names, itself or by being related to the one before. */
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
    this.server.namedOpens.use(open);
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

  /** The request is answered. */
  end(): void {
    for (const open of this.#opens) open.leave();
  }

  /** Refuses a transfer that the credits spent on the request do not pay for. */
  expectCharge(bytes: number): void {
    const paid = Math.max(1, this.header.creditCharge) * CREDIT_BYTES;
    if (bytes > Math.min(paid, this.connection.negotiated.transferBytesMax)) {
      throw new StatusError(STATUS.INVALID_PARAMETER);
    }
  }

  /** Memory for so many bytes of the answer, which has to name it. Waits if others have it. */
  share(bytes: number): Promise<Share> {
    return this.#share(bytes);
  }

  /** Tells the client that this takes time. Aborted if the client no longer wants it, or is gone. */
  pend(): AbortSignal {
    return this.#pend();
  }
}
