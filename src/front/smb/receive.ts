import type { Bytes } from "../../base/bytes.ts";
import { atOnce, inSlices, type Steps } from "../../base/fair-queue.ts";
import type { Message } from "./call.ts";
import { COMMAND, FLAG, readHeader } from "./codec/header.ts";
import { readSmb1Negotiate } from "./codec/negotiate.ts";
import { isTransform, readTransform } from "./codec/transform.ts";
import { answerSmb1 } from "./command/negotiate.ts";
import type { Connection } from "./connection.ts";
import { DropConnection } from "./drop-connection.ts";
import { Exchange } from "./exchange.ts";
import type { IncomingWrite } from "./incoming-write.ts";
import { SLICED_BYTES_MIN } from "./limits.ts";
import type { Session } from "./session.ts";

/**
 * Receives a frame: decrypts it, splits it into messages and uses their message ids. Resolves once
 * it is answered. Rejects with a `DropConnection` if the frame violates the protocol.
 */
export async function receiveFrame(connection: Connection, frame: Bytes): Promise<void> {
  const smb1 = readSmb1Negotiate(frame);
  if (smb1 !== null) {
    if (connection.isNegotiated) throw new DropConnection();
    return answerSmb1(connection, smb1);
  }
  while (connection.opening !== null) await connection.opening;
  let opened: Opened;
  if (frame.length < SLICED_BYTES_MIN) opened = atOnce(open(connection, frame));
  else {
    const opening = inSlices(open(connection, frame));
    connection.opening = opening.catch(() => {});
    try {
      opened = await opening;
    } finally {
      connection.opening = null;
    }
  }
  const { messages, sealedBy } = opened;
  for (const message of messages) account(connection, message);
  await new Exchange(connection, messages, sealedBy).run();
}

/** Answers a large WRITE, once all of it has arrived. */
export async function receiveWrite(connection: Connection, write: IncomingWrite): Promise<void> {
  while (connection.opening !== null) await connection.opening;
  const { message, sealedBy } = write;
  if (!write.isGenuine()) throw new DropConnection();
  if (sealedBy !== null) sealedBy.isSealing = true;
  account(connection, message);
  await new Exchange(connection, [message], sealedBy).run();
}

/** The content of a frame. */
interface Opened {
  readonly messages: readonly Message[];
  /** The session that encrypted it; null for a plain one. */
  readonly sealedBy: Session | null;
}

function* open(connection: Connection, frame: Bytes): Steps<Opened> {
  const { compoundMax } = connection.server.options.limits;
  const { plain, sealedBy } = yield* decrypt(connection, frame);
  const messages = split(plain, compoundMax);
  if (sealedBy !== null) return { messages, sealedBy };
  const checked: Message[] = [];
  for (const message of messages) checked.push(yield* check(connection, message));
  return { messages: checked, sealedBy };
}

/** Skips related requests: their session is known only later, and they are checked then. */
function* check(connection: Connection, message: Message): Steps<Message> {
  const { header, bytes } = message;
  const isSigned = (header.flags & (FLAG.signed | FLAG.related)) === FLAG.signed;
  const signer = connection.sessions.get(header.sessionId)?.signer;
  if (!isSigned || !signer || bytes.length < SLICED_BYTES_MIN) return message;
  const signature = yield* signer.checkInSteps(bytes, { server: false, cancel: false });
  return { ...message, signature };
}

function* decrypt(
  connection: Connection,
  frame: Bytes,
): Steps<{ readonly plain: Bytes; readonly sealedBy: Session | null }> {
  if (!isTransform(frame)) return { plain: frame, sealedBy: null };
  const transform = readTransform(frame);
  const session = transform === null ? undefined : connection.sessions.get(transform.sessionId);
  if (transform === null || !session?.opener) throw new DropConnection();
  const { nonce, aad, text, tag } = transform;
  const plain = yield* session.opener.openInSteps(nonce, aad, text, tag);
  if (plain === null) throw new DropConnection();
  session.isSealing = true;
  return { plain, sealedBy: session };
}

/** Splits a compound into messages, each with its padding, which its signature covers. */
function split(frame: Bytes, messagesMax: number): Message[] {
  const messages: Message[] = [];
  for (let rest = frame; ; ) {
    const header = readHeader(rest);
    if (header === null || messages.length >= messagesMax) throw new DropConnection();
    if ((header.flags & FLAG.response) !== 0) throw new DropConnection();
    const { next } = header;
    if (next === 0) {
      messages.push({ header, bytes: rest, bulk: null, signature: null });
      return messages;
    }
    if (next % 8 !== 0 || next >= rest.length) throw new DropConnection();
    messages.push({ header, bytes: rest.subarray(0, next), bulk: null, signature: null });
    rest = rest.subarray(next);
  }
}

/** Uses the ids of a message. CANCEL has none of its own: it repeats that of another request. */
function account(connection: Connection, { header }: Message): void {
  if (header.command === COMMAND.cancel) return;
  if (!connection.isNegotiated && header.command !== COMMAND.negotiate) throw new DropConnection();
  if (!connection.credits.use(header.messageId, Math.max(1, header.creditCharge))) {
    throw new DropConnection();
  }
}
