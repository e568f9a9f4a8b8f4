import { lengthOf } from "../../base/borrowed-buffer.ts";
import type { Instant } from "../../base/clock.ts";
import { type SmbOutcome, UNKNOWN_OPERATION } from "../outcome.ts";
import type { Answer, Message } from "./call.ts";
import type { CallFacts } from "./call-facts.ts";
import { COMMAND } from "./codec/header.ts";
import { HEADER_BYTES } from "./codec/wire.ts";
import type { Connection } from "./connection.ts";
import { ntStatusName, STATUS } from "./nt-status.ts";
import { openAskedOf } from "./open-asked.ts";
import { operationName } from "./operation-name.ts";
import type { Session } from "./session.ts";

/** When a request began. */
export interface Begun {
  readonly atMs: Instant;
  /** By the clock of durations. */
  readonly elapsedMs: number;
}

interface Asked {
  readonly message: Message;
  readonly session: Session | null;
  readonly facts: CallFacts;
}

/** From here on, the two highest bits of a status say that it is an error. */
const ERROR_MIN = 0xc0000000;

/** Reports what came of a request, before its answer is sent. */
export function reportAnswer(
  connection: Connection,
  { message, session, facts }: Asked,
  answer: Answer,
  { atMs, elapsedMs }: Begun,
): void {
  const { outcomes, clock } = connection.server.options;
  const { command, messageId } = message.header;
  const account = (answer.session ?? session)?.account ?? "";
  const isLogon = command === COMMAND.sessionSetup;
  outcomes?.take?.({
    atMs,
    tookMs: clock.elapsedMs() - elapsedMs,
    service: "smb",
    operation: operationName(command),
    account: account === "" ? null : account,
    container: facts.share,
    auth: account !== "" || isLogon ? "ntlm" : "none",
    status: answer.status,
    code: codeOf(answer.status),
    requestBytes: message.bytes.length - HEADER_BYTES + (message.bulk?.length ?? 0),
    responseBytes: lengthOf(answer.body) + lengthOf(answer.borrowed?.parts ?? []),
    requestId: requestIdOf(connection, messageId),
    remoteAddress: connection.wire.remoteAddress,
    path: facts.path,
    user: facts.user,
    dialect: facts.dialect,
    open: facts.create === null ? null : openAskedOf(facts.create),
    dropped: false,
  });
}

/** Reports that a connection is cut because its client broke the protocol, or is one too many. */
export function reportDrop(connection: Connection, status: number): void {
  const { outcomes, clock } = connection.server.options;
  const take = outcomes?.take ?? null;
  if (take === null) return;
  const outcome: SmbOutcome = {
    atMs: clock.now(),
    tookMs: 0,
    service: "smb",
    operation: UNKNOWN_OPERATION,
    account: null,
    container: null,
    auth: "none",
    status,
    code: codeOf(status),
    requestBytes: 0,
    responseBytes: 0,
    requestId: requestIdOf(connection, null),
    remoteAddress: connection.wire.remoteAddress,
    path: null,
    user: null,
    dialect: null,
    open: null,
    dropped: true,
  };
  take(outcome);
}

/** Names the connection and the request on it: SMB has no ids of requests. */
export function requestIdOf({ id }: Connection, messageId: number | null): string {
  return messageId === null ? `smb-${id}` : `smb-${id}-${messageId}`;
}

/** The name of a status that refuses; null for the others. */
function codeOf(status: number): string | null {
  if (status < ERROR_MIN || status === STATUS.MORE_PROCESSING_REQUIRED) return null;
  return ntStatusName(status);
}
