import type { Bytes } from "../../../base/bytes.ts";
import { Authentication } from "../auth/authentication.ts";
import { type Answer, answered, type Call } from "../call.ts";
import {
  readSessionSetup,
  type SessionSetupRequest,
  writeSessionSetup,
} from "../codec/session-setup.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import type { Session } from "../session.ts";

/** Handles one step of a log-on, also of a session that logs on again. */
export async function handleSessionSetup(call: Call): Promise<Answer> {
  const request = readSessionSetup(call.message);
  // A second connection for a session (multichannel) is not offered in NEGOTIATE.
  if (request.binding) throw new StatusError(STATUS.REQUEST_NOT_ACCEPTED);
  const session = call.hasSession ? call.session : newSession(call);
  session.hash(call.message);
  try {
    return await step(call, session, request);
  } catch (error) {
    session.authentication = null;
    // A failed log-on ends the session, also a later one.
    await session.close();
    throw error;
  }
}

function newSession({ connection, server }: Call): Session {
  const { sessionsPerConnectionMax } = server.options.limits;
  if (connection.sessions.size >= sessionsPerConnectionMax) {
    throw new StatusError(STATUS.INSUFFICIENT_RESOURCES);
  }
  return connection.newSession();
}

async function step(call: Call, session: Session, request: SessionSetupRequest): Promise<Answer> {
  const { server } = call;
  session.authentication ??= new Authentication(
    (name) => server.accounts.get(name),
    server.name,
    server.options.clock,
  );
  const next = session.authentication.step(request.token);
  if (next.kind === "more") return more(session, next.token);
  // Each challenge is used for one try only.
  session.authentication = null;
  call.facts.user = next.user;
  const { wire, gone } = call.connection;
  const claimant = { address: wire.remoteAddress, user: next.user, gone };
  const done = await server.failedLogons.check(claimant, next.prove);
  if (session.isClosed) throw new StatusError(STATUS.USER_SESSION_DELETED);
  if (session.account === "") {
    admit(call, session, request);
    session.establish(done.account, server.hostOf(done.account), done.sessionKey);
    await closePrevious(call, session, request.previousSessionId);
  } else if (session.account !== done.account) {
    throw new StatusError(STATUS.ACCESS_DENIED);
  }
  session.passwordHash = done.passwordHash;
  const body = [writeSessionSetup(session.encryptionRequired, done.token)];
  return answered(STATUS.SUCCESS, body, { session });
}

function more(session: Session, token: Bytes): Answer {
  return answered(STATUS.MORE_PROCESSING_REQUIRED, [writeSessionSetup(false, token)], {
    session,
    onSent: (message) => session.hash(message),
  });
}

/** Sets the signing and encryption that the server, or else the client, requires. */
function admit({ connection, server }: Call, session: Session, request: SessionSetupRequest): void {
  const { encryption, signingRequired } = server.options;
  session.encryptionRequired = encryption === "required";
  session.signingRequired = signingRequired || request.signingRequired;
  if (session.encryptionRequired && connection.negotiated.cipher === null) {
    throw new StatusError(STATUS.ACCESS_DENIED);
  }
}

/** Closes the old session of a client that reconnects before the server noticed the loss. */
async function closePrevious(
  { server }: Call,
  session: Session,
  previousId: number,
): Promise<void> {
  const previous = server.sessions.get(previousId);
  if (previous === undefined || previous === session) return;
  if (previous.account === session.account) await previous.close(true);
}
