import { type BorrowedBuffer, copyParts, lengthOf } from "../../base/borrowed-buffer.ts";
import type { Bytes } from "../../base/bytes.ts";
import { atOnce, fairQueue, inSlices, type Steps } from "../../base/fair-queue.ts";
import { Fault } from "../../base/fault.ts";
import type { Share } from "../send-budget.ts";
import { type Answer, answered, Call, type Chain, type Message } from "./call.ts";
import { CallFacts } from "./call-facts.ts";
import { writeError } from "./codec/empty.ts";
import { COMMAND, FLAG, writeAnswerHeader, writeNext } from "./codec/header.ts";
import { DIALECT } from "./codec/negotiate.ts";
import { alignedTo, HEADER_BYTES } from "./codec/wire.ts";
import type { Connection } from "./connection.ts";
import type { Signer } from "./crypto/signer.ts";
import { COMMANDS } from "./dispatch.ts";
import { DropConnection } from "./drop-connection.ts";
import { statusOfFailure, statusOfFault } from "./fault-status.ts";
import { newMessage, releaseFrame } from "./frame-memory.ts";
import { handleThrough } from "./handle-through.ts";
import { SLICED_BYTES_MIN } from "./limits.ts";
import { type NtStatus, STATUS, StatusError } from "./nt-status.ts";
import { sealFrameInSteps } from "./seal-frame.ts";
import type { Session } from "./session.ts";
import { type Begun, reportAnswer } from "./smb-outcome.ts";
import { shareOf } from "./tree.ts";

const NOT_ADMITTED = { session: null, treeId: 0, pending: null, isSigned: false };
const NOTHING: BorrowedBuffer = { parts: [], mayOverwrite: true, release() {} };

/** A request that is being answered. */
interface Asked {
  readonly message: Message;
  session: Session | null;
  treeId: number;
  /** Set once the client has been sent an interim response. */
  pending: ReturnType<Connection["pend"]> | null;
  /** Whether the response is signed, if there is a key. */
  isSigned: boolean;
  readonly facts: CallFacts;
}

/** The responses of one frame. */
interface Ready {
  readonly answers: readonly Bytes[];
  /** The session whose key signs each response; null for none. */
  readonly signers: readonly (Session | null)[];
  /** Bytes that follow the last response. */
  readonly borrowed: BorrowedBuffer;
  /** The memory of the responses until they are sent. */
  readonly shares: readonly Share[];
}

const SIGNED_BY_SERVER = { server: true, cancel: false };

/** The requests of one frame, answered in order and in as few frames as possible. */
export class Exchange {
  readonly #connection: Connection;
  readonly #messages: readonly Message[];
  /** The session that encrypted the frame, and so its response; null for a plain one. */
  readonly #sealedBy: Session | null;
  readonly #chain: Chain = { sessionId: null, treeId: 0, fileId: null, failed: null };
  #answers: Bytes[] = [];
  #signers: (Session | null)[] = [];
  /** Bytes that follow the only response. */
  #borrowed: BorrowedBuffer = NOTHING;
  /** The memory of the responses that are not sent yet. */
  #shares: Share[] = [];
  /** Large frames that are encrypted or signed in slices. */
  readonly #sending: Promise<void>[] = [];

  constructor(connection: Connection, messages: readonly Message[], sealedBy: Session | null) {
    this.#connection = connection;
    this.#messages = messages;
    this.#sealedBy = sealedBy;
  }

  /** Rejects with a `DropConnection`; a client can cause no other error. */
  async run(): Promise<void> {
    try {
      for (const message of this.#messages) {
        if (message.header.command === COMMAND.cancel) this.#connection.cancel(message.header);
        else await this.#serve(message);
      }
      this.#flush();
    } finally {
      for (const share of this.#shares) share.release();
      if (this.#sending.length > 0) await Promise.all(this.#sending);
    }
  }

  /** Sends ready responses first, so that no request waits for memory of its own frame. */
  #share(bytes: number): Promise<Share> {
    if (this.#shares.length > 0) this.#flush();
    return this.#connection.wire.shareFor(bytes);
  }

  async #serve(message: Message): Promise<void> {
    const facts = new CallFacts();
    const asked: Asked = { ...NOT_ADMITTED, message, facts };
    const begun = this.#begun();
    let answer: Answer;
    try {
      answer = await this.#answer(asked);
    } catch (error) {
      if (error instanceof DropConnection) throw error;
      answer = answered(statusOf(error) ?? (await this.#failed(asked, error)), [writeError()]);
    }
    this.#chain.failed = answer.status >= 0xc0000000 ? answer.status : null;
    if (asked.pending !== null) this.#connection.finish(asked.pending);
    if (begun !== null) reportAnswer(this.#connection, asked, answer, begun);
    this.#add(asked, answer);
  }

  /** When a request begins; null if nobody wants to know. */
  #begun(): Begun | null {
    const { outcomes, clock } = this.#connection.server.options;
    return (outcomes?.take ?? null) === null
      ? null
      : { atMs: clock.now(), elapsedMs: clock.elapsedMs() };
  }

  async #answer(asked: Asked): Promise<Answer> {
    const { header } = asked.message;
    const command = COMMANDS.get(header.command);
    if (command === undefined) throw new StatusError(STATUS.INVALID_PARAMETER);
    this.#relate(asked);
    if (command.needs !== "nothing" || asked.session !== null) this.#admit(asked);
    const tree = asked.session?.trees.get(asked.treeId) ?? null;
    if (command.needs === "tree" && tree === null) {
      throw new StatusError(STATUS.NETWORK_NAME_DELETED);
    }
    asked.facts.share = tree === null ? null : shareOf(tree);
    const call = new Call(this.#connection, asked.message, {
      facts: asked.facts,
      sealed: this.#sealedBy !== null,
      chain: this.#chain,
      session: asked.session,
      tree,
      pend: () => this.#pend(asked),
      share: (bytes) => this.#share(bytes),
    });
    const { gate } = this.#connection.server.options;
    try {
      if (gate === undefined) return await command.handle(call);
      return await handleThrough(gate, call, async () => command.handle(call));
    } finally {
      call.end();
    }
  }

  /** Gives a related request the session and tree of the request before it. */
  #relate(asked: Asked): void {
    const { header } = asked.message;
    if ((header.flags & FLAG.related) === 0) {
      this.#chain.sessionId = header.sessionId;
      this.#chain.treeId = header.treeId;
      this.#chain.fileId = null;
      this.#chain.failed = null;
    }
    const { sessionId, treeId } = this.#chain;
    if (sessionId === null) throw new StatusError(STATUS.INVALID_PARAMETER);
    asked.treeId = treeId;
    asked.session = this.#connection.sessions.get(sessionId) ?? null;
    if (this.#sealedBy !== null && asked.session !== this.#sealedBy) throw new DropConnection();
  }

  /** Checks session, signature and encryption; the order decides which refusal a client sees. */
  #admit(asked: Asked): void {
    const { session, message } = asked;
    const { header } = message;
    const isSetup = header.command === COMMAND.sessionSetup;
    if (session === null) {
      if (isSetup && this.#chain.sessionId === 0) return;
      this.#chain.sessionId = null;
      throw new StatusError(STATUS.USER_SESSION_DELETED);
    }
    if (session.signer === null) {
      if (isSetup) return;
      throw new StatusError(STATUS.USER_SESSION_DELETED);
    }
    if (this.#sealedBy !== null) return;
    const isSigned = (header.flags & FLAG.signed) !== 0;
    if (isSigned && !isSignedBy(session.signer, message)) {
      throw new StatusError(STATUS.ACCESS_DENIED);
    }
    asked.isSigned = isSigned || session.signingRequired;
    if (!isSigned && header.command === COMMAND.treeConnect) this.#expectSignature();
    if (!isSetup && !isSigned && session.signingRequired) {
      throw new StatusError(STATUS.ACCESS_DENIED);
    }
    if (!isSetup && session.encryptionRequired) throw new StatusError(STATUS.ACCESS_DENIED);
  }

  /** In 3.1.1 the signature proves that nobody tampered with the log-on. */
  #expectSignature(): void {
    if (this.#connection.negotiated.dialect === DIALECT.smb311) throw new DropConnection();
  }

  async #failed(asked: Asked, error: unknown): Promise<NtStatus> {
    const { log } = this.#connection.server.options;
    log.failure(`an SMB request${await this.#subjectOf(asked)}`, error);
    return statusOfFailure(error);
  }

  /** The share and path of a request, as far as they are known, for the log. */
  async #subjectOf({ session, treeId }: Asked): Promise<string> {
    const tree = session?.trees.get(treeId);
    if (session === null || tree?.kind !== "share") return "";
    const { fileId } = this.#chain;
    const open = fileId === null ? undefined : session.opens.get(fileId.volatile);
    // If the record of the file is damaged, its path is unknown.
    const path = open?.kind === "file" ? await open.path().catch(() => null) : null;
    return ` (${JSON.stringify([session.account, tree.share, path ?? []].flat().join("/"))})`;
  }

  /** Sends ready responses, and then the interim response of this request. */
  #pend(asked: Asked): AbortSignal {
    if (asked.pending !== null) return asked.pending.abort.signal;
    const { pendingMax } = this.#connection.server.options.limits;
    if (this.#connection.pendingCount >= pendingMax) {
      throw new StatusError(STATUS.INSUFFICIENT_RESOURCES);
    }
    const pending = this.#connection.pend(asked.message.header.messageId);
    const { asyncId } = pending;
    // In separate frames: Linux drops responses before an interim response in one encrypted frame.
    this.#flush();
    this.#push(asked, answered(STATUS.PENDING, [writeError()]), asyncId, this.#grant(asked));
    this.#flush();
    asked.pending = pending;
    return pending.abort.signal;
  }

  #add(asked: Asked, answer: Answer): void {
    const { pending } = asked;
    // The interim response already granted the credits.
    if (pending !== null) this.#push(asked, answer, pending.asyncId, 0);
    else this.#push(asked, answer, null, this.#grant(asked));
  }

  #grant({ message }: Asked): number {
    return this.#connection.credits.grant(message.header.creditsAsked);
  }

  #push(asked: Asked, answer: Answer, asyncId: number | null, credits: number): void {
    const session = answer.session ?? asked.session;
    const isSigned = this.#sealedBy === null && this.#signs(asked, answer, session);
    const bytes = this.#gather(answer);
    writeAnswerHeader(bytes, asked.message.bytes, {
      status: answer.status,
      credits,
      sessionId: session?.id ?? null,
      treeId: answer.treeId ?? asked.treeId,
      asyncId,
      signed: isSigned,
    });
    this.#answers.push(bytes);
    if (answer.share !== null) this.#shares.push(answer.share);
    this.#signers.push(isSigned ? session : null);
    // Log-on messages are hashed as they are sent.
    answer.onSent?.(bytes);
  }

  /** Copies borrowed bytes into a response of a compound; a single response sends them in place. */
  #gather({ body, borrowed }: Answer): Bytes {
    if (borrowed === null) return gathered(body, []);
    if (this.#messages.length > 1) {
      const bytes = gathered(body, borrowed.parts);
      borrowed.release();
      return bytes;
    }
    this.#borrowed = borrowed;
    return gathered(body, []);
  }

  #signs(asked: Asked, answer: Answer, session: Session | null): boolean {
    if (session === null || session.signer === null) return false;
    return asked.isSigned || answer.session !== null;
  }

  /** Sends the ready responses: small ones at once, large ones in slices. */
  #flush(): void {
    if (this.#answers.length === 0) return;
    const ready = this.#takeReady();
    const bytes = lengthOf(ready.answers) + lengthOf(ready.borrowed.parts);
    const frame = this.#protect(ready);
    if (bytes < SLICED_BYTES_MIN) this.#connection.wire.send(atOnce(frame));
    else this.#sending.push(this.#sendInSlices(frame));
  }

  #takeReady(): Ready {
    const ready = {
      answers: this.#answers,
      signers: this.#signers,
      borrowed: this.#borrowed,
      shares: this.#shares,
    };
    this.#answers = [];
    this.#signers = [];
    this.#borrowed = NOTHING;
    this.#shares = [];
    return ready;
  }

  async #sendInSlices(frame: Steps<BorrowedBuffer>): Promise<void> {
    await fairQueue.next();
    this.#connection.wire.send(await inSlices(frame));
  }

  *#protect({ answers, signers, borrowed, shares }: Ready): Steps<BorrowedBuffer> {
    const parts: Bytes[] = [];
    for (const [index, answer] of answers.entries()) {
      const isLast = index === answers.length - 1;
      const chained = isLast ? answer : chainedOn(answer);
      const signer = signers[index]?.signer ?? null;
      const rest = isLast ? borrowed.parts : [];
      if (signer !== null) yield* signer.signInSteps(chained, rest, SIGNED_BY_SERVER);
      parts.push(chained);
    }
    const release = () => {
      for (const part of parts) releaseFrame(part);
      borrowed.release();
      for (const share of shares) share.release();
    };
    const { mayOverwrite } = borrowed;
    const frame = { parts: [...parts, ...borrowed.parts], mayOverwrite, release };
    return this.#sealedBy === null ? frame : yield* sealFrameInSteps(this.#sealedBy, frame);
  }
}

/** Pads a response, and links it to the next one of the compound. */
function chainedOn(answer: Bytes): Bytes {
  const padded = withPadding(answer);
  writeNext(padded, padded.length);
  return padded;
}

function isSignedBy(signer: Signer, { bytes, bulk, signature }: Message): boolean {
  if (signature !== null) return signature.isRight();
  return bulk === null && signer.isSigned(bytes, { server: false, cancel: false });
}

function gathered(body: readonly Bytes[], borrowed: readonly Bytes[]): Bytes {
  const bytes = newMessage(HEADER_BYTES + lengthOf(body) + lengthOf(borrowed));
  let at = HEADER_BYTES;
  for (const part of body) at += part.copy(bytes, at);
  copyParts(borrowed, bytes.subarray(at));
  return bytes;
}

/** Extends a response to a multiple of eight; `newMessage` has cleared those bytes. */
function withPadding(answer: Bytes): Bytes {
  return Buffer.from(answer.buffer, answer.byteOffset, alignedTo(answer.length, 8));
}

/** The NT status of a refusal; null if the error is none. */
function statusOf(error: unknown): NtStatus | null {
  if (error instanceof StatusError) return error.status;
  return error instanceof Fault ? statusOfFault(error.code) : null;
}
