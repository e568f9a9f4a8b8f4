import type { Bytes } from "../../base/bytes.ts";
import { freeMemory } from "../../machine/free-memory.ts";
import { takeToWrite } from "../../service/file/write-open-file.ts";
import type { Taken } from "../../store/content.ts";
import type { Message } from "./call.ts";
import { COMMAND, FLAG, type RequestHeader, readHeader } from "./codec/header.ts";
import { isTransform, readTransform, TRANSFORM_BYTES } from "./codec/transform.ts";
import { readWriteStart } from "./codec/write.ts";
import type { Connection } from "./connection.ts";
import type { Opening } from "./crypto/cipher.ts";
import { DropConnection } from "./drop-connection.ts";
import type { LargeFrame } from "./frame-reader.ts";
import { PushedBody } from "./pushed-body.ts";
import type { Session } from "./session.ts";

type OnWait = (taken: Promise<void>) => void;

/**
 * A large WRITE that is being received. Its bytes are decrypted, checked and stored as they arrive,
 * while they are in the CPU's cache, and are never all in memory. The stored bytes have no name
 * yet: whether the request is genuine and allowed is checked once all of it has arrived.
 */
export class IncomingWrite implements LargeFrame {
  readonly length: number;
  readonly message: Message;
  /** The session that encrypted it; null for a plain one. */
  readonly sealedBy: Session | null;
  readonly #opening: Opening | null;
  readonly #body: PushedBody;
  readonly #taken: Promise<Taken>;
  readonly #onWait: OnWait;

  private constructor(start: WriteStart, onWait: OnWait) {
    const { header, head, session, opening } = start;
    const isSigned = opening === null && (header.flags & FLAG.signed) !== 0;
    const by = { server: false, cancel: false };
    const signature = isSigned ? (session.signer?.check(head, by) ?? null) : null;
    this.length = start.messageBytes;
    this.sealedBy = opening === null ? null : session;
    this.#opening = opening;
    this.#onWait = onWait;
    this.#body = new PushedBody(start.dataBytes);
    this.#taken = takeToWrite(session.host.files, this.#body);
    // Handles a failure that nobody awaits, and refuses the rest of the body.
    this.#taken.catch((error) => this.#body.stop(error));
    this.message = {
      header,
      bytes: head,
      bulk: { taken: this.#taken, length: start.dataBytes },
      signature,
    };
  }

  /**
   * Null if a frame with this start is anything but one WRITE to a file: then it must be received
   * as a whole. `onWait` is called with a promise for parts that are not taken at once: until it
   * resolves, no more should be received.
   */
  static begin(
    connection: Connection,
    frame: Bytes,
    frameBytes: number,
    onWait: OnWait,
  ): IncomingWrite | null {
    const start = startOf(connection, frame, frameBytes);
    if (start === null) return null;
    const write = new IncomingWrite(start, onWait);
    write.#push(start.data);
    return write;
  }

  add(part: Bytes): void {
    this.#push(this.#opening === null ? part : this.#opening.update(part));
  }

  /** Whether it was encrypted by its session. Call it once, when all of it has arrived. */
  isGenuine(): boolean {
    return this.#opening?.isGenuine() ?? true;
  }

  /** Ends it, answered or not. Resolves once nothing uses its bytes. */
  async end(): Promise<void> {
    if (!this.#body.isTaken) this.#body.stop(new DropConnection());
    await this.#taken.then(
      (taken) => taken.release(),
      () => {},
    );
  }

  #push(data: Bytes): void {
    this.message.signature?.update(data);
    const wait = this.#body.push(data);
    if (wait !== undefined) this.#onWait(wait.then(() => this.#free(data)));
    else this.#free(data);
  }

  /** Releases decrypted bytes, which are in memory of our own. */
  #free(data: Bytes): void {
    if (this.#opening !== null) freeMemory(data);
  }
}

/** The start of a WRITE. */
interface WriteStart {
  readonly messageBytes: number;
  readonly session: Session;
  /** Null if it is not encrypted. */
  readonly opening: Opening | null;
  readonly header: RequestHeader;
  /** The message up to the data. */
  readonly head: Bytes;
  /** The data that has arrived. */
  readonly data: Bytes;
  readonly dataBytes: number;
}

function startOf(connection: Connection, frame: Bytes, frameBytes: number): WriteStart | null {
  if (!isTransform(frame)) return startOfMessage(connection, frame, frameBytes, null);
  const transform = readTransform(frame, frameBytes);
  if (transform === null) return null;
  const { sessionId, nonce, aad, tag, text } = transform;
  const opening = connection.sessions.get(sessionId)?.opener?.begin(nonce, aad, tag) ?? null;
  if (opening === null) return null;
  const plain = opening.update(text);
  const start = startOfMessage(connection, plain, frameBytes - TRANSFORM_BYTES, opening);
  return start?.session.id === sessionId ? start : null;
}

function startOfMessage(
  connection: Connection,
  plain: Bytes,
  messageBytes: number,
  opening: Opening | null,
): WriteStart | null {
  const header = readHeader(plain);
  if (header === null || header.command !== COMMAND.write) return null;
  if (header.next !== 0 || (header.flags & (FLAG.response | FLAG.related)) !== 0) return null;
  const write = readWriteStart(plain, messageBytes);
  const session = connection.sessions.get(header.sessionId);
  if (write === null || session === undefined) return null;
  if (session.opens.get(write.fileId.volatile)?.kind !== "file") return null;
  return {
    messageBytes,
    session,
    opening,
    header,
    head: Buffer.from(plain.subarray(0, write.dataAt)),
    data: plain.subarray(write.dataAt),
    dataBytes: write.length,
  };
}
